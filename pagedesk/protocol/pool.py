"""Where the memory of the device is, and what every block of the pool holds. Frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

NO_OWNER = 0xFFFF
"""In the owner arrays of a `PoolSnapshot`: no chat."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Where the memory of the device is, in bytes; None where the machine does not tell.

    `total_bytes` is the card's memory, or on a CPU the machine's; `others_bytes` is what everything else uses of it:
    other programs, and PageDesk's own code and libraries; `on_card` tells which of the two it is.
    """

    device_name: str
    total_bytes: int | None
    others_bytes: int | None
    budget_bytes: int
    weights_bytes: int
    workspace_bytes: int
    pool_bytes: int
    headroom_bytes: int
    on_card: bool = False


class BlockState(IntEnum):
    """What a block is to the pool (one byte a block in a snapshot)."""

    FREE = 0
    OWNED = 1
    SHARED = 2
    CACHED = 3


@dataclass(frozen=True, slots=True)
class ChatBlocks:
    """The blocks of one chat: held by it alone, held together with others, cached after its last use."""

    chat_id: str
    num_owned: int
    num_shared: int
    num_cached: int


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """The pool and the engine's counters at one moment between two steps.

    Attributes:
        block_size: Tokens in a block.
        block_bytes: Bytes of a block.
        states: A `BlockState` byte for each block, by block id.
        owners: Little-endian unsigned 16-bit per block: index into `chats` of the chat that holds the block, or for a
            cached one held it last; `NO_OWNER` for none. Read with `memoryview(owners).cast("H")`.
        second_owners: The same for a second chat that shares the block.
        num_owners: A byte per block: how many different chats hold it (at most 255).
        ref_counts: A byte per block: how many block tables name it (at most 255).
        chats: The chats that the owner arrays point into.
        peak_held_blocks: The most blocks that were held (owned or shared) at once since the model was loaded.
        peak_shared_blocks: The most blocks that were shared at once since the model was loaded.
        num_copied_blocks: Blocks copied on write since the model was loaded.
        saved_bytes: Sum over shared blocks of (ref_count - 1) x block_bytes.
        num_running: Sequences that have the turn.
        num_waiting: Sequences that wait.
        step_index: Steps since the model was loaded.
        step_ms: Duration of the newest step.
        prompt_tokens: Prompt tokens computed since the model was loaded.
        cached_prompt_tokens: Prompt tokens found in the cache since the model was loaded.
        generated_tokens: Tokens generated since the model was loaded.
        memory: Where the device's memory is.
    """

    block_size: int
    block_bytes: int
    states: bytes
    owners: bytes
    second_owners: bytes
    num_owners: bytes
    ref_counts: bytes
    chats: tuple[ChatBlocks, ...]
    num_owned: int
    num_shared: int
    num_cached: int
    num_free: int
    peak_held_blocks: int
    peak_shared_blocks: int
    num_copied_blocks: int
    saved_bytes: int
    num_running: int
    num_waiting: int
    step_index: int
    step_ms: float
    prompt_tokens: int
    cached_prompt_tokens: int
    generated_tokens: int
    memory: MemoryUse

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return len(self.states)
