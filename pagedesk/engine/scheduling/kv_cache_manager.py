"""Gives sequences their blocks: the longest cached prefix, room for new tokens, forks that share until they write.

Engine thread only. Knows tokens, not why they are computed now. Every method either does all of its work or changes
nothing and says so.
"""

from __future__ import annotations

from collections import Counter

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.geometry import blocks_for
from pagedesk.protocol import BlockState


class KVCacheManager:
    """The block tables of all sequences that hold blocks.

    Args:
        num_blocks: Blocks in the pool.
        block_size: Tokens in a block.
        root_key: Stands for what all keys depend on: the model and the number format of the cache.

    Attributes:
        pool: The blocks.
        num_copied_blocks: Blocks copied on write so far.
    """

    def __init__(self, num_blocks: int, block_size: int, root_key: bytes = b"") -> None:
        self.pool = BlockPool(num_blocks)
        self.num_copied_blocks = 0
        self._block_size = block_size
        self._root_key = root_key
        self._holders: dict[int, Sequence] = {}
        self._copies: dict[int, int] = {}

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return len(self.pool.blocks)

    @property
    def capacity(self) -> int:
        """The longest sequence that the whole pool could hold, in tokens."""
        return self.num_blocks * self._block_size

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that hold so many tokens."""
        return blocks_for(num_tokens, self._block_size)

    def admit(self, sequence: Sequence, num_spare: int) -> bool:
        """Give a sequence without blocks what it needs for all its tokens, from the cache as far as possible.

        At least one token is left to compute, because its logits choose the next one.

        Args:
            sequence: Its `num_computed_tokens` becomes the length of the cached prefix.
            num_spare: Blocks that must be left over.

        Returns:
            False if there are too few blocks; then nothing has changed.
        """
        cached = self._cached_prefix(sequence)
        num_new = self.blocks_for(sequence.num_tokens) - len(cached)
        num_revived = sum(block.ref_count == 0 for block in cached)
        if num_new + num_spare > self.pool.num_available - num_revived:
            return False
        self._share(sequence, cached)
        sequence.table.extend(self.pool.take(sequence.chat_id) for _ in range(num_new))
        sequence.num_keyed_blocks = len(cached)
        sequence.num_computed_tokens = len(cached) * self._block_size
        return True

    def grow(self, sequence: Sequence, num_tokens: int) -> bool:
        """Make room to write the next `num_tokens` tokens: blocks of its own, from the first token on.

        A block that others hold too is copied (see `take_copies`).

        Returns:
            False if there are too few blocks; then nothing has changed.
        """
        num_new = max(self.blocks_for(sequence.num_computed_tokens + num_tokens) - len(sequence.table), 0)
        first = sequence.num_computed_tokens // self._block_size
        must_copy = first < len(sequence.table) and sequence.table[first].ref_count > 1
        if num_new + must_copy > self.pool.num_available:
            return False
        if must_copy:
            self._copy_on_write(sequence, first)
        elif first < len(sequence.table) and sequence.table[first].key is not None:
            self.pool.unname(sequence.table[first])
        if num_new:
            sequence.table.extend(self.pool.take(sequence.chat_id) for _ in range(num_new))
        return True

    def commit(self, sequence: Sequence) -> None:
        """Give a key to each block that its computed tokens have filled, so that others can hit it.

        If another block has that key already, the sequence goes on with that one and gives its own back.
        """
        num_full = sequence.num_computed_tokens // self._block_size
        if num_full == sequence.num_keyed_blocks:
            return
        keys = sequence.keys(num_full, self._block_size, self._root_key)
        for index in range(sequence.num_keyed_blocks, num_full):
            self._commit_block(sequence, index, keys[index])
        sequence.num_keyed_blocks = num_full

    def fork(self, parent: Sequence, child: Sequence, num_tokens: int) -> None:
        """Let the child share the parent's blocks of the first `num_tokens` tokens; costs no block.

        Both must agree on these tokens, and the parent must have computed them.
        """
        assert num_tokens <= parent.num_computed_tokens
        assert child.token_ids[:num_tokens] == parent.token_ids[:num_tokens]
        self._share(child, [parent.table[index] for index in range(self.blocks_for(num_tokens))])
        child.num_computed_tokens = num_tokens
        child.num_keyed_blocks = num_tokens // self._block_size

    def free(self, sequence: Sequence) -> None:
        """Release its blocks, the last one first, so that the cache loses the end of a chat before its start."""
        del self._holders[sequence.sequence_id]
        for block in reversed(sequence.table.clear()):
            self._release(block, sequence.chat_id)
        sequence.num_computed_tokens = 0
        sequence.num_keyed_blocks = 0

    def take_copies(self) -> tuple[tuple[int, int], ...]:
        """The block copies (source, destination) to make before anything is written; each is given once."""
        copies = tuple((source, destination) for destination, source in self._copies.items())
        self._copies.clear()
        self.num_copied_blocks += len(copies)
        return copies

    def _cached_prefix(self, sequence: Sequence) -> list[Block]:
        num_full = (sequence.num_tokens - 1) // self._block_size
        return self.pool.cache.longest_prefix(sequence.keys(num_full, self._block_size, self._root_key))

    def _share(self, sequence: Sequence, blocks: list[Block]) -> None:
        assert len(sequence.table) == 0, f"{sequence} holds blocks already"
        self._holders[sequence.sequence_id] = sequence
        for block in blocks:
            self.pool.hold(block, sequence.chat_id)
        sequence.table.extend(blocks)

    def _copy_on_write(self, sequence: Sequence, index: int) -> None:
        copy = self.pool.take(sequence.chat_id)
        original = sequence.table.replace(index, copy)
        self._copies[copy.block_id] = original.block_id
        self.pool.release(original, sequence.chat_id)

    def _commit_block(self, sequence: Sequence, index: int, key: bytes) -> None:
        twin = self.pool.cache.find(key)
        if twin is None:
            self.pool.name(sequence.table[index], key)
            return
        assert twin is not sequence.table[index], f"{twin} was keyed before it was full"
        self._release(sequence.table.replace(index, twin), sequence.chat_id)
        self.pool.hold(twin, sequence.chat_id)

    def _release(self, block: Block, chat_id: str) -> None:
        self.pool.release(block, chat_id)
        if block.ref_count == 0:
            self._copies.pop(block.block_id, None)

    def check_invariants(self) -> None:
        """Assert that free + cached + owned are all blocks and reference counts equal the tables; for tests."""
        self.pool.check_invariants()
        named = Counter(block.block_id for sequence in self._holders.values() for block in sequence.table)
        assert all(block.ref_count == named[block.block_id] for block in self.pool.blocks)
        in_state = self.pool.map.num_in_state
        assert in_state[BlockState.OWNED] + in_state[BlockState.SHARED] == len(named)
        assert sum(in_state) == self.num_blocks
        for sequence in self._holders.values():
            self._check_sequence(sequence)

    def _check_sequence(self, sequence: Sequence) -> None:
        assert len(sequence.table) >= self.blocks_for(sequence.num_computed_tokens)
        assert len(set(sequence.table.block_ids)) == len(sequence.table), "a table names a block twice"
        keys = sequence.keys(sequence.num_keyed_blocks, self._block_size, self._root_key)
        assert keys == [sequence.table[index].key for index in range(sequence.num_keyed_blocks)]
        assert sequence.num_computed_tokens // self._block_size == sequence.num_keyed_blocks
