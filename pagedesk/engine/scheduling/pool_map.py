"""The state of every block in flat arrays, for the gauge: kept current with each change, so a picture costs a copy.

Engine thread only. The blocks themselves are the truth; this repeats it and `BlockPool.check_invariants` compares.
"""

from __future__ import annotations

import sys
from array import array
from typing import NamedTuple

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.chat_tally import ChatTally
from pagedesk.protocol import NO_OWNER, BlockState

_BYTE_MAX = 255


def state_of(block: Block) -> BlockState:
    """What the block is to the pool."""
    if block.ref_count > 1:
        return BlockState.SHARED
    if block.ref_count == 1:
        return BlockState.OWNED
    return BlockState.FREE if block.content is None else BlockState.CACHED


def owners_of(block: Block) -> list[str]:
    """The different chats that hold the block, or the one whose cache it is."""
    if block.holders:
        return list(dict.fromkeys(block.holders))
    return [] if block.content is None or block.last_owner is None else [block.last_owner]


class _Counted(NamedTuple):
    """A block as the sums know it."""

    state: BlockState
    ref_count: int
    owners: list[int]

    @property
    def num_spared(self) -> int:
        return max(self.ref_count - 1, 0)


class PoolMap:
    """A state, two owners and two counts for each block, and the sums over all blocks.

    Attributes:
        tally: The counts by chat.
        num_in_state: Blocks by `BlockState`.
        num_spared: Sum over shared blocks of the block tables beyond the first that name them.
        peak_held: The most blocks that were held at once.
        peak_shared: The most blocks that were shared at once.
    """

    def __init__(self, num_blocks: int) -> None:
        self.tally = ChatTally()
        self.num_in_state = [0] * len(BlockState)
        self.num_in_state[BlockState.FREE] = num_blocks
        self.num_spared = 0
        self.peak_held = 0
        self.peak_shared = 0
        self._states = bytearray(num_blocks)
        self._ref_counts = bytearray(num_blocks)
        self._num_owners = bytearray(num_blocks)
        self._first_owners = array("H", [NO_OWNER]) * num_blocks
        self._second_owners = array("H", [NO_OWNER]) * num_blocks
        self._counted = [_Counted(BlockState.FREE, 0, [])] * num_blocks

    def refresh(self, block: Block) -> None:
        """Repeat what the block is now."""
        before = self._counted[block.block_id]
        for index in before.owners:
            self.tally.remove(index, before.state)
        state = state_of(block)
        now = _Counted(state, block.ref_count, [self.tally.add(chat_id, state) for chat_id in owners_of(block)])
        self._counted[block.block_id] = now
        self.num_in_state[before.state] -= 1
        self.num_in_state[state] += 1
        self.num_spared += now.num_spared - before.num_spared
        self._draw(block.block_id, now)
        self._note_peaks()

    def states(self) -> bytes:
        """A `BlockState` byte a block."""
        return bytes(self._states)

    def ref_counts(self) -> bytes:
        """The block tables that name each block, at most 255."""
        return bytes(self._ref_counts)

    def num_owners(self) -> bytes:
        """The different chats that hold each block, at most 255."""
        return bytes(self._num_owners)

    def owners(self) -> bytes:
        """A little-endian 16-bit chat index a block."""
        return _little_endian(self._first_owners)

    def second_owners(self) -> bytes:
        """The same for a second chat."""
        return _little_endian(self._second_owners)

    def _draw(self, block_id: int, now: _Counted) -> None:
        self._states[block_id] = now.state
        self._ref_counts[block_id] = min(now.ref_count, _BYTE_MAX)
        self._num_owners[block_id] = min(len(now.owners), _BYTE_MAX) if now.ref_count else 0
        self._first_owners[block_id] = now.owners[0] if now.owners else NO_OWNER
        self._second_owners[block_id] = now.owners[1] if len(now.owners) > 1 else NO_OWNER

    def _note_peaks(self) -> None:
        shared = self.num_in_state[BlockState.SHARED]
        self.peak_shared = max(self.peak_shared, shared)
        self.peak_held = max(self.peak_held, self.num_in_state[BlockState.OWNED] + shared)


def _little_endian(values: array[int]) -> bytes:
    if sys.byteorder == "little":
        return values.tobytes()
    swapped = array("H", values)
    swapped.byteswap()
    return swapped.tobytes()
