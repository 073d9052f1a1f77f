"""The blocks that no table names, in the order in which they will be taken.

Engine thread only. The list runs through the blocks themselves, so that one can leave the middle at O(1)
when the cache hits it. Two markers divide it: empty blocks, then those of the cache that are of least use, then the
rest of the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagedesk.engine.scheduling.block import Block, Link


class FreeList:
    """A queue of blocks, taken from the front: empty ones, orphans and spent ones, the other cached ones."""

    def __init__(self) -> None:
        self._anchor = Link()
        self._end_of_empty = Link()
        self._end_of_spent = Link()
        ring = (self._anchor, self._end_of_empty, self._end_of_spent)
        for place, link in enumerate(ring):
            link.previous, link.following = ring[place - 1], ring[(place + 1) % len(ring)]
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
        self._insert_after(self._end_of_empty.previous, block)

    def push_orphan(self, block: Block) -> None:
        """Make it the first of the cached ones to be taken: nobody can reach it any more."""
        self._insert_after(self._end_of_empty, block)

    def push_spent(self, block: Block) -> None:
        """Let all be taken after it that a chat would miss more, and before it what was spent earlier."""
        self._insert_after(self._end_of_spent.previous, block)

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
