"""The blocks of sequences in one group of layers: what the manager does, seen from one table.

Engine thread only. The manager asks every group what it needs before any of them acts, so nothing here can fail.
"""

from __future__ import annotations

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.block_copies import BlockCopies
from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.block_table import BlockTable
from pagedesk.engine.scheduling.cache_claim import GroupClaim
from pagedesk.engine.scheduling.cache_group import CacheGroup
from pagedesk.engine.scheduling.child_index import num_common
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.geometry import blocks_for


class GroupBlocks:
    """One group of all sequences that hold blocks.

    Args:
        group: Which one.
        pool: Where the blocks of all groups come from.
        copies: The copies of all groups.
    """

    def __init__(self, group: CacheGroup, pool: BlockPool, copies: BlockCopies) -> None:
        self.group = group
        self._block_size = group.block_size
        self._pool = pool
        self._copies = copies

    def table(self, sequence: Sequence) -> BlockTable:
        """A sequence's table in this group."""
        return sequence.tables[self.group.index]

    # Getting blocks.

    def num_new(self, sequence: Sequence, part: GroupClaim) -> int:
        """Blocks to take for all its tokens beside those that are claimed."""
        return self.group.num_to_hold(sequence.num_tokens, part.first_index) - len(part.blocks)

    def share(self, sequence: Sequence, first_index: int, blocks: list[Block]) -> None:
        """Begin an empty table with blocks that are there."""
        table = self.table(sequence)
        table.start_at(first_index)
        for block in blocks:
            self._pool.hold(block, sequence.chat_id)
        table.extend(blocks)

    def extend(self, sequence: Sequence, num_blocks: int) -> None:
        """Take blocks for the end of its table."""
        self.table(sequence).extend([self._pool.take(sequence.chat_id) for _ in range(num_blocks)])

    def copy_start(self, sequence: Sequence, source: Block) -> None:
        """Let the block that it writes first begin as a copy of another one."""
        destination = self.table(sequence)[self._index(sequence)]
        self._copies.add(source, destination, on_write=False)

    # Writing.

    def num_to_grow(self, sequence: Sequence, num_tokens: int) -> int:
        """Blocks to take before it writes its next `num_tokens` tokens."""
        table, start = self.table(sequence), sequence.num_computed_tokens
        num_missing = blocks_for(start + num_tokens, self._block_size) - table.end
        return (num_missing if num_missing > 0 else 0) + self._must_copy(table, start // self._block_size)

    def grow(self, sequence: Sequence, num_tokens: int) -> None:
        """Give it these blocks; the block that it writes first becomes its own."""
        table, start = self.table(sequence), sequence.num_computed_tokens
        num_missing = blocks_for(start + num_tokens, self._block_size) - table.end
        index = start // self._block_size
        if self._must_copy(table, index):
            self._copy_on_write(sequence, index)
        elif index < table.end:
            self._pool.truncate(table[index], start % self._block_size)
        if num_missing > 0:
            self.extend(sequence, num_missing)

    def commit(self, sequence: Sequence) -> None:
        """Let the blocks of its computed tokens be found."""
        num_full, num_rest = divmod(sequence.num_computed_tokens, self._block_size)
        for index in range(sequence.num_keyed_blocks, num_full):
            self._commit_full(sequence, index)
        if num_rest:
            self._pool.fill(self.table(sequence)[num_full], self._content(sequence, num_full))

    def distrust(self, sequence: Sequence) -> None:
        """Find the block that it writes to no more."""
        self._pool.truncate(self.table(sequence)[self._index(sequence)], 0)

    # Sharing and giving back.

    def can_fork(self, parent: Sequence, num_tokens: int) -> bool:
        """Whether the parent still has the blocks that the token after so many tokens looks at."""
        return self.table(parent).first_index <= self.group.first_needed(num_tokens)

    def fork(self, parent: Sequence, child: Sequence, num_tokens: int) -> None:
        """Let the child share what the token after so many tokens looks at."""
        first = self.group.first_needed(num_tokens)
        end = blocks_for(num_tokens, self._block_size)
        self.share(child, first, [self.table(parent)[index] for index in range(first, end)])

    def drop_spent(self, sequence: Sequence) -> None:
        """Give back what none of its next tokens looks at."""
        if self.group.window is None:
            return
        for block in self.table(sequence).drop_before(self.group.first_needed(sequence.num_computed_tokens)):
            self._pool.release(block, sequence.chat_id, is_spent=True)

    def _index(self, sequence: Sequence) -> int:
        """The entry that its next token is written to."""
        return sequence.num_computed_tokens // self._block_size

    def _must_copy(self, table: BlockTable, index: int) -> bool:
        return index < table.end and table[index].ref_count > 1

    def _copy_on_write(self, sequence: Sequence, index: int) -> None:
        copy = self._pool.take(sequence.chat_id)
        original = self.table(sequence).replace(index, copy)
        self._copies.add(original, copy, on_write=True)
        self._pool.release(original, sequence.chat_id)

    def _commit_full(self, sequence: Sequence, index: int) -> None:
        content = self._content(sequence, index)
        twin = None if content.key is None else self._pool.cache.find(content.key)
        if twin is None:
            self._pool.fill(self.table(sequence)[index], content)
            return
        assert twin is not self.table(sequence)[index], f"{twin} was keyed before it was full"
        self.release(self.table(sequence).replace(index, twin), sequence.chat_id)
        self._pool.hold(twin, sequence.chat_id)

    def release(self, block: Block, chat_id: str) -> None:
        """Let a table name a block no more, and forget the copy to it if nobody wants it any longer."""
        self._pool.release(block, chat_id)
        if block.ref_count == 0:
            self._copies.cancel(block)

    def _content(self, sequence: Sequence, index: int) -> Content:
        start, full_end = index * self._block_size, (index + 1) * self._block_size
        end = min(full_end, sequence.num_computed_tokens)
        return Content(
            self._key_before(sequence, index),
            tuple(sequence.token_ids[start:end]),
            self._key_before(sequence, index + 1) if end == full_end else None,
            sequence.chat_id,
            self.group.window is not None,
        )

    def _key_before(self, sequence: Sequence, index: int) -> bytes:
        return sequence.key_before(index, self._block_size, self.group.root_key)

    # For tests.

    def check(self, sequence: Sequence) -> None:
        """Assert that its table has what its next token looks at, and blocks hold what it computed."""
        table, computed = self.table(sequence), sequence.num_computed_tokens
        assert table.first_index <= self.group.first_needed(computed)
        assert table.end >= blocks_for(computed, self._block_size)
        assert len(set(table.block_ids)) == len(table), "a table names a block twice"
        keys = sequence.keys(sequence.num_keyed_blocks, self._block_size, self.group.root_key)
        assert keys[table.first_index :] == [table[i].key for i in range(table.first_index, sequence.num_keyed_blocks)]
        for index, block in enumerate(table, start=table.first_index):
            self._check_content(sequence, index, block)

    def _check_content(self, sequence: Sequence, index: int, block: Block) -> None:
        """What a block is known to hold is what each of its sequences computed, as far as that one has come."""
        if block.content is None:
            return
        size = self._block_size
        mine = sequence.token_ids[index * size : min((index + 1) * size, sequence.num_computed_tokens)]
        assert num_common(block.content.token_ids, mine) == min(len(block.content.token_ids), len(mine))
        assert block.content.parent == self._key_before(sequence, index)
        assert block.content.is_windowed == (self.group.window is not None)
