"""What can be told about one block: its state, who holds it, how often it is named.

Plain values read from a snapshot; no Qt, no numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.protocol import NO_OWNER, BlockState, PoolSnapshot

MAX_COUNT = 255
"""Counts of a snapshot stop here: this or more."""


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """One block at the moment of a snapshot.

    Attributes:
        block_id: Its place in the pool.
        state: What it is to the pool.
        chat_ids: Up to two of the chats that hold it, or for a cached block held it last.
        num_owners: How many chats hold it; `MAX_COUNT` means that or more.
        ref_count: How many block tables name it; `MAX_COUNT` means that or more.
        num_bytes: Its size.
    """

    block_id: int
    state: BlockState
    chat_ids: tuple[str, ...]
    num_owners: int
    ref_count: int
    num_bytes: int

    @classmethod
    def of(cls, snapshot: PoolSnapshot, block_id: int) -> BlockFacts:
        """The facts of a block."""
        owners = (_owner_at(snapshot.owners, block_id), _owner_at(snapshot.second_owners, block_id))
        return cls(
            block_id=block_id,
            state=BlockState(snapshot.states[block_id]),
            chat_ids=tuple(snapshot.chats[owner].chat_id for owner in owners if owner != NO_OWNER),
            num_owners=snapshot.num_owners[block_id],
            ref_count=snapshot.ref_counts[block_id],
            num_bytes=snapshot.block_bytes,
        )


def _owner_at(owners: bytes, block_id: int) -> int:
    return int.from_bytes(owners[2 * block_id : 2 * block_id + 2], "little")
