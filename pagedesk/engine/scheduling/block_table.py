"""The blocks of one sequence in one group of layers, in the order of its tokens.

Engine thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pagedesk.engine.scheduling.block import Block


class BlockTable:
    """Entry i holds the tokens from `i * block_size` on; entries that left the window are gone from its start."""

    def __init__(self) -> None:
        self._first = 0
        self._blocks: list[Block] = []
        self._ids: tuple[int, ...] | None = ()

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, index: int) -> Block:
        assert index >= self._first, f"block {index} is gone, the first one is {self._first}"
        return self._blocks[index - self._first]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    @property
    def first_index(self) -> int:
        """The first entry that is there."""
        return self._first

    @property
    def end(self) -> int:
        """The entry after the last one."""
        return self._first + len(self._blocks)

    @property
    def block_ids(self) -> tuple[int, ...]:
        """The ids in order; made once for each change, not once for each step."""
        if self._ids is None:
            self._ids = tuple(block.block_id for block in self._blocks)
        return self._ids

    def has(self, index: int) -> bool:
        """Whether this entry is there."""
        return self._first <= index < self.end

    def start_at(self, first_index: int) -> None:
        """Let an empty table begin with this entry."""
        assert not self._blocks, "only an empty table can begin anywhere"
        self._first = first_index

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks at the end."""
        self._blocks.extend(blocks)
        self._ids = None

    def replace(self, index: int, block: Block) -> Block:
        """Put another block at this place and give back the one that was there."""
        replaced = self[index]
        self._blocks[index - self._first] = block
        self._ids = None
        return replaced

    def drop_before(self, index: int) -> list[Block]:
        """Let the entries before this one go, and give back their blocks."""
        num_dropped = index - self._first
        if num_dropped <= 0:
            return []
        dropped, self._blocks = self._blocks[:num_dropped], self._blocks[num_dropped:]
        self._first = index
        self._ids = None
        return dropped

    def clear(self) -> None:
        """Empty the table."""
        self._first = 0
        self._blocks = []
        self._ids = ()
