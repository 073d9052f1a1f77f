"""Gives sequences their blocks: the longest cached prefix, room for new tokens, forks that share until they write.

Engine thread only. Knows tokens, not why they are computed now. Every method either does all of its work or changes
nothing that anybody needs and says so. A model whose layers look back differently far has several groups of layers; a
sequence has a table in each, and what is done is done in all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence as Run

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.block_copies import BlockCopies
from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.cache_claim import CacheClaim, find_claim
from pagedesk.engine.scheduling.cache_group import cache_groups
from pagedesk.engine.scheduling.cache_miss import explain_miss
from pagedesk.engine.scheduling.group_blocks import GroupBlocks
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.protocol import BlockState, MissReason


class KVCacheManager:
    """The block tables of all sequences that hold blocks.

    Args:
        num_blocks: Blocks in the pool.
        block_size: Tokens in a block.
        root_key: Stands for what all keys depend on: the model and the number format of the cache.
        windows: How far each group of layers looks back, see `CacheGroup`.
        max_step_tokens: Most tokens of a sequence that one step computes; only windows ask for it.

    Attributes:
        pool: The blocks.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        root_key: bytes = b"",
        *,
        windows: Run[int | None] = (None,),
        max_step_tokens: int = 1,
    ) -> None:
        self._block_size = block_size
        self._groups = cache_groups(windows, block_size, max_step_tokens, root_key)
        self.pool = BlockPool(num_blocks, (group.root_key for group in self._groups))
        self._copies = BlockCopies(self.pool)
        self._parts = tuple(GroupBlocks(group, self.pool, self._copies) for group in self._groups)
        self._holders: dict[int, Sequence] = {}

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return len(self.pool.blocks)

    @property
    def num_groups(self) -> int:
        """Tables that a sequence has."""
        return len(self._groups)

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
        """Blocks that a sequence of so many tokens ever holds at once."""
        return sum(group.most_blocks(num_tokens) for group in self._groups)

    def longest_sequence(self, max_tokens: int) -> int:
        """The longest sequence that the whole pool could hold, at most `max_tokens` tokens."""
        return bisect_right(range(max_tokens + 1), self.num_blocks, key=self.blocks_for) - 1

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
        claim = find_claim(self.pool.cache, sequence, self._groups)
        if not self._has_room(sequence, claim, num_spare):
            if not claim.has_copies:
                return False
            claim = find_claim(self.pool.cache, sequence, self._groups, may_copy=False)
            if not self._has_room(sequence, claim, num_spare):
                return False
        self._give(sequence, claim)
        return True

    def explain_miss(self, sequence: Sequence) -> MissReason | None:
        """Why the cache did not have more of a sequence that was just admitted; None if it had all that it could."""
        return explain_miss(self.pool, sequence, self._groups)

    def grow(self, sequence: Sequence, num_tokens: int) -> bool:
        """Make room to write the next `num_tokens` tokens: blocks of its own, from the first token on.

        A block that others hold too is copied (see `take_copies`); blocks that left their window are given back.

        Returns:
            False if there are too few blocks; then it keeps all that it needs.
        """
        for part in self._parts:
            part.drop_spent(sequence)
        if sum([part.num_to_grow(sequence, num_tokens) for part in self._parts]) > self.pool.num_available:
            return False
        for part in self._parts:
            part.grow(sequence, num_tokens)
        return True

    def commit(self, sequence: Sequence) -> None:
        """Let the blocks of its computed tokens be found: a key for each one that is full, the tokens of a partial one.

        If another block has a key already, the sequence goes on with that one and gives its own back.
        """
        for part in self._parts:
            part.commit(sequence)
        sequence.num_keyed_blocks = sequence.num_computed_tokens // self._block_size

    def fork(self, parent: Sequence, child: Sequence, num_tokens: int) -> bool:
        """Let the child share the parent's blocks of the first `num_tokens` tokens, any number; costs no block.

        A block that they share and one of them writes is copied then. Both must agree on these tokens, and the
        parent must have computed them.

        Returns:
            False if the parent has gone so far that blocks left its window which the child would look at; then nothing
            has changed, and the child can be admitted like any other sequence.
        """
        assert num_tokens <= parent.num_computed_tokens
        assert child.token_ids[:num_tokens] == parent.token_ids[:num_tokens]
        if not all(part.can_fork(parent, num_tokens) for part in self._parts):
            return False
        self._note_holder(child)
        for part in self._parts:
            part.fork(parent, child, num_tokens)
        self._begin_at(child, num_tokens)
        return True

    def distrust(self, sequence: Sequence) -> None:
        """A step on this sequence went wrong: the blocks that it wrote to are not found any more."""
        for part in self._parts:
            part.distrust(sequence)

    def free(self, sequence: Sequence) -> None:
        """Release its blocks, the last one first, so that the cache loses the end of a chat before its start."""
        del self._holders[sequence.sequence_id]
        for part in self._parts:
            part.drop_spent(sequence)
        for part, block in list(self._from_the_end(sequence)):
            part.release(block, sequence.chat_id)
        for table in sequence.tables:
            table.clear()
        self._begin_at(sequence, 0)

    def take_copies(self) -> tuple[tuple[int, int], ...]:
        """The block copies (source, destination) to make before anything is written; each is given once.

        Nothing may be allocated before they are made.
        """
        return self._copies.take()

    def _has_room(self, sequence: Sequence, claim: CacheClaim, num_spare: int) -> bool:
        needed = sum(part.num_new(sequence, claimed) for part, claimed in zip(self._parts, claim.parts, strict=True))
        room = self.pool.num_available - claim.num_revived
        return needed + max(num_spare, claim.num_pinned) <= room

    def _give(self, sequence: Sequence, claim: CacheClaim) -> None:
        """Hold what is claimed in all groups before anything is taken in any."""
        self._note_holder(sequence)
        parts = list(zip(self._parts, claim.parts, strict=True))
        num_new = [part.num_new(sequence, claimed) for part, claimed in parts]
        sources = [claimed.source for _, claimed in parts if claimed.source is not None]
        for part, claimed in parts:
            part.share(sequence, claimed.first_index, list(claimed.blocks))
        for source in sources:
            self.pool.pin(source)
        self._begin_at(sequence, claim.num_tokens)
        for (part, claimed), num_blocks in zip(parts, num_new, strict=True):
            part.extend(sequence, num_blocks)
            if claimed.source is not None:
                part.copy_start(sequence, claimed.source)
        for source in sources:
            self.pool.unpin(source)

    def _note_holder(self, sequence: Sequence) -> None:
        assert sequence.sequence_id not in self._holders, f"{sequence} holds blocks already"
        self._holders[sequence.sequence_id] = sequence

    def _begin_at(self, sequence: Sequence, num_tokens: int) -> None:
        sequence.num_computed_tokens = num_tokens
        sequence.num_keyed_blocks = num_tokens // self._block_size

    def _from_the_end(self, sequence: Sequence) -> Iterator[tuple[GroupBlocks, Block]]:
        """Its blocks of all groups, the last tokens first: what belongs together is lost together."""
        for index in reversed(range(max(table.end for table in sequence.tables))):
            for part, table in zip(self._parts, sequence.tables, strict=True):
                if table.has(index):
                    yield part, table[index]

    def check_invariants(self) -> None:
        """Assert that free + cached + owned are all blocks and reference counts equal the tables; for tests."""
        self.pool.check_invariants()
        self._copies.check_invariants()
        tables = [table for sequence in self._holders.values() for table in sequence.tables]
        named = Counter(block.block_id for table in tables for block in table)
        assert all(block.ref_count == named[block.block_id] for block in self.pool.blocks)
        in_state = self.pool.map.num_in_state
        assert in_state[BlockState.OWNED] + in_state[BlockState.SHARED] == len(named)
        assert sum(in_state) == self.num_blocks
        for sequence in self._holders.values():
            assert sequence.num_computed_tokens // self._block_size == sequence.num_keyed_blocks
            for part in self._parts:
                part.check(sequence)
