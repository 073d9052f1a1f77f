"""The blocks that no table names, in the order in which they will be taken.

Engine thread only. The list runs through the blocks themselves, so that one can leave the middle at O(1)
when the cache hits it. Blocks that hold nothing stand before a marker, cached ones after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagedesk.engine.scheduling.block import Block, Link


class FreeList:
    """A queue of blocks: empty ones, then cached ones; taken from the front."""

    def __init__(self) -> None:
        self._anchor = Link()
        self._marker = Link()
        self._anchor.previous = self._anchor.following = self._marker
        self._marker.previous = self._marker.following = self._anchor
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Block]:
        link = self._anchor.following
        while link is not self._anchor:
            if isinstance(link, Block):
                yield link
            link = link.following

    def push_empty(self, block: Block) -> None:
        """Make it the next one to be taken."""
        self._insert_after(self._anchor, block)

    def push_initial(self, block: Block) -> None:
        """Make it the last of the empty ones."""
        self._insert_after(self._marker.previous, block)

    def push_orphan(self, block: Block) -> None:
        """Make it the first of the cached ones to be taken."""
        self._insert_after(self._marker, block)

    def push_cached(self, block: Block) -> None:
        """Make it the last one to be taken."""
        self._insert_after(self._anchor.previous, block)

    def pop_front(self) -> Block:
        """Take the next one; the list must not be empty."""
        first = next(iter(self), None)
        assert first is not None, "the free list is empty"
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
