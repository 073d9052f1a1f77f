"""The blocks that no table names, in the order in which they will be taken.

Engine thread only. The list runs through the blocks themselves, so that one can leave the middle at O(1)
when the cache hits it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagedesk.engine.scheduling.block import Block, Link


class FreeList:
    """A queue of blocks: taken from the front, joined at either end."""

    def __init__(self) -> None:
        self._anchor = Link()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Block]:
        link = self._anchor.following
        while isinstance(link, Block):
            yield link
            link = link.following

    def push_front(self, block: Block) -> None:
        """Make it the next one to be taken."""
        self._insert_after(self._anchor, block)

    def push_back(self, block: Block) -> None:
        """Make it the last one to be taken."""
        self._insert_after(self._anchor.previous, block)

    def pop_front(self) -> Block:
        """Take the next one; the list must not be empty."""
        first = self._anchor.following
        assert isinstance(first, Block), "the free list is empty"
        self.remove(first)
        return first

    def remove(self, block: Block) -> None:
        """Take this one, wherever it stands."""
        assert block.is_linked, f"{block} is not in the free list"
        block.previous.following, block.following.previous = block.following, block.previous
        block.previous = block.following = block
        self._size -= 1

    def _insert_after(self, place: Link, block: Block) -> None:
        assert not block.is_linked, f"{block} is in the free list already"
        block.previous, block.following = place, place.following
        place.following.previous = block
        place.following = block
        self._size += 1
