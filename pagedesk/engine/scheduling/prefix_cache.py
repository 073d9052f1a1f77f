"""Which block holds which stretch of text: full blocks by key, and all by what stands before them.

Engine thread only. A key is H(key of the block before, token ids, extra), so two sequences have the same key at
a place exactly if they agree on every token up to the end of that block.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.child_index import Child, ChildIndex, Match

KEY_BYTES = 16


def block_key(parent: bytes, token_ids: Sequence[int], extra: tuple[str, ...] = ()) -> bytes:
    """The key of a full block.

    Args:
        parent: Key of the block before it; for the first block the root, which stands for the model and the
            number format of the cache.
        token_ids: The tokens of this block.
        extra: What else its values depend on (images, adapters); empty for text.
    """
    digest = blake2b(parent, digest_size=KEY_BYTES)
    digest.update(array("I", token_ids).tobytes())
    if extra:
        digest.update(repr(extra).encode())
    return digest.digest()


class PrefixCache:
    """Blocks by what they hold, full or not, held or not; no two have the same key."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, Block] = {}
        self._children: ChildIndex[Block] = ChildIndex()

    def __len__(self) -> int:
        return len(self._children)

    def find(self, key: bytes) -> Block | None:
        """The full block with this key, if there is one."""
        return self._blocks.get(key)

    def put(self, block: Block, content: Content) -> None:
        """Let the block be found by what it holds now; its key must be new here."""
        assert content.key not in self._blocks, f"the key of {block} is taken"
        self.forget(block)
        block.content = content
        self._children.add(content.parent, _child(block, content))
        if content.key is not None:
            self._blocks[content.key] = block

    def forget(self, block: Block) -> None:
        """Find this block no more."""
        content, block.content = block.content, None
        if content is None:
            return
        self._children.remove(content.parent, _child(block, content))
        if content.key is not None:
            del self._blocks[content.key]

    def longest_prefix(self, keys: Iterable[bytes]) -> list[Block]:
        """The blocks of the first keys, up to the first one that is not here."""
        found: list[Block] = []
        for key in keys:
            block = self._blocks.get(key)
            if block is None:
                break
            found.append(block)
        return found

    def best_match(self, parent: bytes, token_ids: tuple[int, ...]) -> Match[Block] | None:
        """The block after `parent` that agrees longest with these tokens."""
        return self._children.best(parent, token_ids)

    def children(self, parent: bytes) -> Sequence[Child[Block]]:
        """All blocks after `parent`."""
        return self._children.of(parent)

    def is_covered(self, block: Block) -> bool:
        """Whether another block holds all that this one does."""
        content = block.content
        return content is not None and self._children.covers(content.parent, _child(block, content))


def _child(block: Block, content: Content) -> Child[Block]:
    return Child(content.token_ids, block.block_id, block)
