"""Gives sequences their blocks: the longest cached prefix, room for new tokens, forks that share until they write.

Engine thread only. Knows tokens, not why they are computed now. Every method either does all of its work or changes
nothing and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.block_copies import BlockCopies
from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.cache_claim import CacheClaim, find_claim
from pagedesk.engine.scheduling.cache_miss import explain_miss
from pagedesk.engine.scheduling.child_index import num_common
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.geometry import blocks_for
from pagedesk.protocol import BlockState, MissReason


class KVCacheManager:
    """The block tables of all sequences that hold blocks.

    Args:
        num_blocks: Blocks in the pool.
        block_size: Tokens in a block.
        root_key: Stands for what all keys depend on: the model and the number format of the cache.

    Attributes:
        pool: The blocks.
    """

    def __init__(self, num_blocks: int, block_size: int, root_key: bytes = b"") -> None:
        self.pool = BlockPool(num_blocks, root_key)
        self._block_size = block_size
        self._root_key = root_key
        self._holders: dict[int, Sequence] = {}
        self._copies = BlockCopies(self.pool)

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return len(self.pool.blocks)

    @property
    def capacity(self) -> int:
        """The longest sequence that the whole pool could hold, in tokens."""
        return self.num_blocks * self._block_size

    @property
    def num_copied_blocks(self) -> int:
        """Blocks copied on write so far."""
        return self._copies.num_made_on_write

    def count_on(self, lost: KVCacheManager) -> None:
        """Take over the counters of a manager that this one replaces; its blocks are lost."""
        self._copies.num_made_on_write = lost._copies.num_made_on_write
        self.pool.map.peak_held = lost.pool.map.peak_held
        self.pool.map.peak_shared = lost.pool.map.peak_shared

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that hold so many tokens."""
        return blocks_for(num_tokens, self._block_size)

    def admit(self, sequence: Sequence, num_spare: int) -> bool:
        """Give a sequence without blocks what it needs for all its tokens, from the cache as far as possible.

        Full blocks are shared; of the block after them the matching start is copied (see `take_copies`). At least one
        token is left to compute, because its logits choose the next one.

        Args:
            sequence: Its `num_computed_tokens` becomes the length of the cached prefix.
            num_spare: Blocks that must be left over.

        Returns:
            False if there are too few blocks; then nothing has changed.
        """
        claim = find_claim(self.pool.cache, sequence, self._block_size, self._root_key)
        num_new = self.blocks_for(sequence.num_tokens) - len(claim.blocks)
        num_room = self.pool.num_available - claim.num_revived
        if num_new + num_spare > num_room:
            return False
        self._give(sequence, claim if num_new + claim.num_pinned <= num_room else claim.without_copy(), num_new)
        return True

    def explain_miss(self, sequence: Sequence) -> MissReason | None:
        """Why the cache did not have more of a sequence that was just admitted; None if it had all that it could."""
        return explain_miss(self.pool, sequence, self._block_size, self._root_key)

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
        elif first < len(sequence.table):
            self.pool.truncate(sequence.table[first], sequence.num_computed_tokens % self._block_size)
        if num_new:
            sequence.table.extend(self.pool.take(sequence.chat_id) for _ in range(num_new))
        return True

    def commit(self, sequence: Sequence) -> None:
        """Let the blocks of its computed tokens be found: a key for each one that is full, the tokens of a partial one.

        If another block has a key already, the sequence goes on with that one and gives its own back.
        """
        num_full = sequence.num_computed_tokens // self._block_size
        for index in range(sequence.num_keyed_blocks, num_full):
            self._commit_full(sequence, index)
        sequence.num_keyed_blocks = num_full
        if sequence.num_computed_tokens % self._block_size:
            self.pool.fill(sequence.table[num_full], self._content(sequence, num_full))

    def fork(self, parent: Sequence, child: Sequence, num_tokens: int) -> None:
        """Let the child share the parent's blocks of the first `num_tokens` tokens, any number; costs no block.

        A block that they share and one of them writes is copied then. Both must agree on these tokens, and the
        parent must have computed them.
        """
        assert num_tokens <= parent.num_computed_tokens
        assert child.token_ids[:num_tokens] == parent.token_ids[:num_tokens]
        self._share(child, [parent.table[index] for index in range(self.blocks_for(num_tokens))])
        child.num_computed_tokens = num_tokens
        child.num_keyed_blocks = num_tokens // self._block_size

    def distrust(self, sequence: Sequence) -> None:
        """A step on this sequence went wrong: the block that it wrote to is not found any more."""
        self.pool.truncate(sequence.table[sequence.num_computed_tokens // self._block_size], 0)

    def free(self, sequence: Sequence) -> None:
        """Release its blocks, the last one first, so that the cache loses the end of a chat before its start."""
        del self._holders[sequence.sequence_id]
        for block in reversed(sequence.table.clear()):
            self._release(block, sequence.chat_id)
        sequence.num_computed_tokens = 0
        sequence.num_keyed_blocks = 0

    def take_copies(self) -> tuple[tuple[int, int], ...]:
        """The block copies (source, destination) to make before anything is written; each is given once.

        Nothing may be allocated before they are made.
        """
        return self._copies.take()

    def _give(self, sequence: Sequence, claim: CacheClaim, num_new: int) -> None:
        self._share(sequence, claim.blocks)
        if claim.source is not None:
            self.pool.pin(claim.source)
        sequence.table.extend(self.pool.take(sequence.chat_id) for _ in range(num_new))
        if claim.source is not None:
            self._copies.add(claim.source, sequence.table[len(claim.blocks)], on_write=False)
            self.pool.unpin(claim.source)
        sequence.num_keyed_blocks = claim.num_tokens // self._block_size
        sequence.num_computed_tokens = claim.num_tokens

    def _share(self, sequence: Sequence, blocks: Iterable[Block]) -> None:
        assert len(sequence.table) == 0, f"{sequence} holds blocks already"
        self._holders[sequence.sequence_id] = sequence
        for block in blocks:
            self.pool.hold(block, sequence.chat_id)
        sequence.table.extend(blocks)

    def _copy_on_write(self, sequence: Sequence, index: int) -> None:
        copy = self.pool.take(sequence.chat_id)
        original = sequence.table.replace(index, copy)
        self._copies.add(original, copy, on_write=True)
        self.pool.release(original, sequence.chat_id)

    def _commit_full(self, sequence: Sequence, index: int) -> None:
        content = self._content(sequence, index)
        twin = None if content.key is None else self.pool.cache.find(content.key)
        if twin is None:
            self.pool.fill(sequence.table[index], content)
            return
        assert twin is not sequence.table[index], f"{twin} was keyed before it was full"
        self._release(sequence.table.replace(index, twin), sequence.chat_id)
        self.pool.hold(twin, sequence.chat_id)

    def _content(self, sequence: Sequence, index: int) -> Content:
        start, end = index * self._block_size, min((index + 1) * self._block_size, sequence.num_computed_tokens)
        is_full = end - start == self._block_size
        return Content(
            sequence.key_before(index, self._block_size, self._root_key),
            tuple(sequence.token_ids[start:end]),
            sequence.key_before(index + 1, self._block_size, self._root_key) if is_full else None,
            sequence.chat_id,
        )

    def _release(self, block: Block, chat_id: str) -> None:
        self.pool.release(block, chat_id)
        if block.ref_count == 0:
            self._copies.cancel(block)

    def check_invariants(self) -> None:
        """Assert that free + cached + owned are all blocks and reference counts equal the tables; for tests."""
        self.pool.check_invariants()
        self._copies.check_invariants()
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
        for index, block in enumerate(sequence.table):
            self._check_content(sequence, index, block)

    def _check_content(self, sequence: Sequence, index: int, block: Block) -> None:
        """What a block is known to hold is what each of its sequences computed, as far as that one has come."""
        if block.content is None:
            return
        mine = sequence.token_ids[
            index * self._block_size : min((index + 1) * self._block_size, sequence.num_computed_tokens)
        ]
        assert num_common(block.content.token_ids, mine) == min(len(block.content.token_ids), len(mine))
        assert block.content.parent == sequence.key_before(index, self._block_size, self._root_key)
