"""A sequence: one run of tokens that is being computed.

Engine thread only. A prompt and one answer; `num_computed_tokens` chases `num_tokens`, and that difference alone says
what a step may compute: a whole prompt, its rest, or the one token that was generated last.
"""

from __future__ import annotations

from collections.abc import Sequence as Run
from enum import Enum, auto

from typing_extensions import override

from pagedesk.engine.batch import TablePart
from pagedesk.engine.scheduling.block_table import BlockTable
from pagedesk.engine.scheduling.prefix_cache import block_key


class SequenceState(Enum):
    """Where a sequence is: UNBORN until its prompt was computed by the first one of its request."""

    UNBORN = auto()
    WAITING = auto()
    RUNNING = auto()
    ENDED = auto()


class Sequence:
    """One answer to a request, and the prompt before it.

    Attributes:
        sequence_id: Its name in plans and results.
        chat_id: Whose blocks it holds.
        token_ids: Prompt, then what was generated.
        num_prompt_tokens: How many of them are the prompt.
        num_computed_tokens: How many of them are in the cache.
        num_keyed_blocks: How many of its blocks are full and have their key, in each group of layers.
        tables: Its blocks, by group of layers.
    """

    def __init__(self, sequence_id: int, chat_id: str, prompt_ids: Run[int], num_groups: int = 1) -> None:
        self.sequence_id = sequence_id
        self.chat_id = chat_id
        self.token_ids = list(prompt_ids)
        self.num_prompt_tokens = len(self.token_ids)
        self.num_computed_tokens = 0
        self.num_keyed_blocks = 0
        self.tables = tuple(BlockTable() for _ in range(num_groups))
        self.state = SequenceState.UNBORN
        self._keys: dict[bytes, list[bytes]] = {}

    @property
    def table(self) -> BlockTable:
        """Its blocks in the first group: all of them, where a model has one kind of layer."""
        return self.tables[0]

    @property
    def num_tokens(self) -> int:
        """Prompt and generated tokens."""
        return len(self.token_ids)

    @property
    def num_generated_tokens(self) -> int:
        """Tokens of the answer so far."""
        return len(self.token_ids) - self.num_prompt_tokens

    @property
    def num_uncomputed_tokens(self) -> int:
        """Tokens that are not in the cache yet."""
        return len(self.token_ids) - self.num_computed_tokens

    def table_parts(self) -> tuple[TablePart, ...]:
        """Its tables as a step is told them."""
        return tuple([table.part for table in self.tables])

    def keys(self, num_blocks: int, block_size: int, root: bytes) -> list[bytes]:
        """The keys of its first full blocks behind this root, each computed once in its life."""
        return self._computed_keys(num_blocks, block_size, root)[:num_blocks]

    def key_before(self, index: int, block_size: int, root: bytes) -> bytes:
        """The key of the full block before the one at `index`; the root for the first."""
        if not index:
            return root
        keys = self._keys.get(root, ())
        return keys[index - 1] if len(keys) >= index else self._computed_keys(index, block_size, root)[index - 1]

    def _computed_keys(self, num_blocks: int, block_size: int, root: bytes) -> list[bytes]:
        keys = self._keys.setdefault(root, [])
        for index in range(len(keys), num_blocks):
            parent = keys[-1] if keys else root
            keys.append(block_key(parent, self.token_ids[index * block_size : (index + 1) * block_size]))
        return keys

    @override
    def __repr__(self) -> str:
        return f"Sequence({self.sequence_id}, {self.num_computed_tokens}/{self.num_tokens}, {self.state.name})"
