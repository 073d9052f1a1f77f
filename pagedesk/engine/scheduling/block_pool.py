"""All blocks of the cache: taken, held, released, found again by key.

Engine thread only. Knows nothing of sequences. Blocks are taken in a fixed order: those that hold
nothing first, then cached ones, longest unused first.
"""

from __future__ import annotations

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.free_list import FreeList
from pagedesk.engine.scheduling.pool_map import PoolMap, owners_of, state_of
from pagedesk.engine.scheduling.prefix_cache import PrefixCache
from pagedesk.protocol import BlockState


class BlockPool:
    """Blocks 0 to `num_blocks - 1`; every change to a block goes through here.

    Attributes:
        cache: Full blocks by key, held or not.
        map: The pool as the gauge draws it.
    """

    def __init__(self, num_blocks: int) -> None:
        self.blocks = tuple(Block(block_id) for block_id in range(num_blocks))
        self.cache = PrefixCache()
        self.map = PoolMap(num_blocks)
        self._free = FreeList()
        for block in self.blocks:
            self._free.push_back(block)

    @property
    def num_available(self) -> int:
        """Blocks that no table names: empty ones and cache."""
        return len(self._free)

    def eviction_order(self) -> list[int]:
        """The ids of the available blocks, the next one to be taken first."""
        return [block.block_id for block in self._free]

    def take(self, chat_id: str) -> Block:
        """An available block for a table of this chat; what it cached is forgotten."""
        block = self._free.pop_front()
        self.cache.forget(block)
        self._add_holder(block, chat_id)
        return block

    def hold(self, block: Block, chat_id: str) -> None:
        """Let one more table of this chat name the block."""
        if block.ref_count == 0:
            self._free.remove(block)
        self._add_holder(block, chat_id)

    def release(self, block: Block, chat_id: str) -> None:
        """Let one table of this chat name it no more; the last one leaves it to the cache, if it has a key."""
        block.holders.remove(chat_id)
        if block.ref_count == 0:
            self._make_available(block)
        self.map.refresh(block)

    def name(self, block: Block, key: bytes) -> None:
        """Give a full block its key."""
        self.cache.add(key, block)
        self.map.refresh(block)

    def unname(self, block: Block) -> None:
        """Take a held block's key, because it is about to be written."""
        self.cache.forget(block)
        self.map.refresh(block)

    def _add_holder(self, block: Block, chat_id: str) -> None:
        block.holders.append(chat_id)
        block.last_owner = chat_id
        self.map.refresh(block)

    def _make_available(self, block: Block) -> None:
        if block.key is None:
            block.last_owner = None
            self._free.push_front(block)
        else:
            self._free.push_back(block)

    def check_invariants(self) -> None:
        """Assert that list, cache, map and blocks agree; for tests, it visits every block."""
        available = list(self._free)
        held = [block for block in self.blocks if block.ref_count]
        assert len(available) == len(self._free)
        assert {*available, *held} == {*self.blocks}
        assert len(available) + len(held) == len(self.blocks)
        empty = [block.key is None for block in available]
        assert empty == sorted(empty, reverse=True), "a cached block stands before an empty one"
        named = {block.key: block for block in self.blocks if block.key is not None}
        assert len(named) == len(self.cache)
        assert all(self.cache.find(key) is block for key, block in named.items())
        self._check_map()

    def _check_map(self) -> None:
        states = [state_of(block) for block in self.blocks]
        assert self.map.states() == bytes(states)
        assert self.map.num_in_state == [states.count(state) for state in BlockState]
        assert self.map.num_spared == sum(max(block.ref_count - 1, 0) for block in self.blocks)
        for chat in self.map.tally.counts():
            mine = [state_of(block) for block in self.blocks if chat.chat_id in owners_of(block)]
            assert chat.num_owned == mine.count(BlockState.OWNED)
            assert chat.num_shared == mine.count(BlockState.SHARED)
            assert chat.num_cached == mine.count(BlockState.CACHED)
