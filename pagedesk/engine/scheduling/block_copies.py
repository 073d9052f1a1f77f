"""The block copies that the next step makes before it writes anything.

Engine thread only. A source is pinned until its copy is handed out: whoever lets it go meanwhile, nobody gets it
within the same step, so the copies of a step may be made in any order.
"""

from __future__ import annotations

from typing import NamedTuple

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.block_pool import BlockPool


class _Copy(NamedTuple):
    source: Block
    is_on_write: bool


class BlockCopies:
    """Copies by destination.

    Args:
        pool: Where the blocks live.

    Attributes:
        num_made_on_write: Copies handed out so far because a shared block was to be written.
    """

    def __init__(self, pool: BlockPool) -> None:
        self.num_made_on_write = 0
        self._pool = pool
        self._copies: dict[int, _Copy] = {}

    def add(self, source: Block, destination: Block, *, on_write: bool) -> None:
        """Copy one block to another, which its sequence alone holds."""
        self._pool.pin(source)
        self._copies[destination.block_id] = _Copy(source, on_write)

    def cancel(self, destination: Block) -> None:
        """Forget the copy to this block, if there is one: nobody wants it any more."""
        copy = self._copies.pop(destination.block_id, None)
        if copy is not None:
            self._pool.unpin(copy.source)

    def take(self) -> tuple[tuple[int, int], ...]:
        """Hand out all copies as (source, destination); nothing may be allocated before they are made."""
        copies, self._copies = self._copies, {}
        for copy in copies.values():
            self._pool.unpin(copy.source)
        self.num_made_on_write += sum(copy.is_on_write for copy in copies.values())
        return tuple((copy.source.block_id, destination) for destination, copy in copies.items())

    def check_invariants(self) -> None:
        """Assert that exactly the sources are pinned and nobody shares a destination; for tests."""
        sources = [copy.source for copy in self._copies.values()]
        assert all(block.num_pins == sources.count(block) for block in self._pool.blocks)
        assert all(self._pool.blocks[block_id].ref_count == 1 for block_id in self._copies)
