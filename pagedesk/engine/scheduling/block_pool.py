"""All blocks of the cache: taken, held, released, found again by what they hold.

Engine thread only. Knows nothing of sequences. Blocks are taken in a fixed order: those that hold nothing, then orphans
(nobody can reach them, because what stood before them is gone) and those that left the window of their text (of use
only to who goes back), then the other cached ones, longest unused first.

Whoever holds a block holds all blocks before it too, as far as its layers look, and releases them later: so the end of
a text always stands before its start in that order, and a cold chat loses its tail, not its root.
"""

from __future__ import annotations

from collections.abc import Iterable

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.evictions import Evictions
from pagedesk.engine.scheduling.free_list import FreeList
from pagedesk.engine.scheduling.pool_map import PoolMap, owners_of, state_of
from pagedesk.engine.scheduling.prefix_cache import PrefixCache
from pagedesk.protocol import BlockState


class BlockPool:
    """Blocks 0 to `num_blocks - 1`; every change to a block goes through here.

    Args:
        num_blocks: How many there are.
        root_keys: What stands before the first block of every text, one for each group of layers.

    Attributes:
        cache: Blocks by what they hold, held or not.
        evictions: What the cache held before.
        map: The pool as the gauge draws it.
    """

    def __init__(self, num_blocks: int, root_keys: Iterable[bytes] = (b"",)) -> None:
        self.blocks = tuple(Block(block_id) for block_id in range(num_blocks))
        self.cache = PrefixCache()
        self.evictions = Evictions()
        self.map = PoolMap(num_blocks)
        self._root_keys = frozenset(root_keys)
        self._free = FreeList()
        for block in self.blocks:
            self._free.push_initial(block)

    @property
    def num_available(self) -> int:
        """Blocks that no table names and no copy reads: empty ones and cache."""
        return len(self._free)

    def eviction_order(self) -> list[int]:
        """The ids of the available blocks, the next one to be taken first."""
        return [block.block_id for block in self._free]

    def take(self, chat_id: str) -> Block:
        """An available block for a table of this chat; what it cached is forgotten."""
        block = self._free.pop_front()
        if block.content is not None:
            self.evictions.note(block.content, block.chats)
            self._forget(block)
        self._add_holder(block, chat_id)
        return block

    def hold(self, block: Block, chat_id: str) -> None:
        """Let one more table of this chat name the block."""
        if block.is_linked:
            self._free.remove(block)
        self._add_holder(block, chat_id)

    def release(self, block: Block, chat_id: str, *, is_spent: bool = False) -> None:
        """Let one table of this chat name it no more; the last one leaves it to the cache, if it holds anything.

        `is_spent`: the text goes on without it, it left the window of its layers.
        """
        block.holders.remove(chat_id)
        self._make_available(block, is_spent=is_spent)
        self.map.refresh(block)

    def pin(self, block: Block) -> None:
        """Keep the block as it is for a copy, whoever lets it go."""
        if block.is_linked:
            self._free.remove(block)
        block.num_pins += 1

    def unpin(self, block: Block) -> None:
        """The copy is made, or not wanted any more."""
        block.num_pins -= 1
        self._make_available(block, is_spent=False)
        self.map.refresh(block)

    def fill(self, block: Block, content: Content) -> None:
        """Let a held block be found by what has been computed into it."""
        assert block.holders, f"{block} is filled and nobody holds it"
        self.cache.put(block, content)

    def truncate(self, block: Block, num_tokens: int) -> None:
        """The slots from `num_tokens` on of a held block are about to be written anew."""
        content = block.content
        if content is None or len(content.token_ids) <= num_tokens:
            return
        self._forget(block)
        kept = content.first(num_tokens)
        if kept is not None:
            self.cache.put(block, kept)

    def _forget(self, block: Block) -> None:
        content = block.content
        self.cache.forget(block)
        if content is not None and content.key is not None and not content.is_windowed:
            self._orphan(content.key)

    def _orphan(self, key: bytes) -> None:
        """What follows a lost block goes to the front; a child is moved after its parent and so stands before it."""
        descendants = [child.value for child in self.cache.children(key)]
        while descendants:
            block = descendants.pop()
            if block.is_linked:
                self._free.remove(block)
                self._free.push_orphan(block)
            if block.key is not None:
                descendants.extend(child.value for child in self.cache.children(block.key))

    def _add_holder(self, block: Block, chat_id: str) -> None:
        block.holders.append(chat_id)
        block.last_owner = chat_id
        self.map.refresh(block)

    def _make_available(self, block: Block, *, is_spent: bool) -> None:
        if block.holders or block.num_pins:
            return
        if block.key is None and self.cache.is_covered(block):
            self.cache.forget(block)
        if block.content is None:
            block.last_owner = None
            self._free.push_empty(block)
        elif self._is_orphan(block.content):
            self._free.push_orphan(block)
        elif is_spent:
            self._free.push_spent(block)
        else:
            self._free.push_cached(block)

    def _is_orphan(self, content: Content) -> bool:
        is_reached = content.is_windowed or content.parent in self._root_keys
        return not is_reached and self.cache.find(content.parent) is None

    def check_invariants(self) -> None:
        """Assert that list, cache, map and blocks agree; for tests, it visits every block."""
        available = list(self._free)
        kept = [block for block in self.blocks if block.ref_count or block.num_pins]
        assert len(available) == len(self._free)
        assert {*available, *kept} == {*self.blocks}
        assert len(available) + len(kept) == len(self.blocks)
        self._check_order(available)
        self._check_cache()
        self._check_map()

    def _check_order(self, available: list[Block]) -> None:
        empty = [block.content is None for block in available]
        assert empty == sorted(empty, reverse=True), "a cached block stands before an empty one"
        places = {block: place for place, block in enumerate(available)}
        for block, place in places.items():
            is_bound = block.content is not None and not block.content.is_windowed
            parent = self.cache.find(block.content.parent) if block.content is not None and is_bound else None
            assert parent is None or places.get(parent, len(places)) > place, f"{block} outlives {parent} before it"

    def _check_cache(self) -> None:
        filled = {block: block.content for block in self.blocks if block.content is not None}
        assert len(filled) == len(self.cache)
        for block, content in filled.items():
            assert content.token_ids
            assert content.key is None or self.cache.find(content.key) is block
            assert block in [child.value for child in self.cache.children(content.parent)]

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
