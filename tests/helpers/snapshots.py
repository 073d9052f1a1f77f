"""Builders of `PoolSnapshot` values: given as a list of blocks, or drawn at random. Any thread; plain Python."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from pagedesk.protocol import NO_OWNER, BlockState, ChatBlocks, MemoryUse, PoolSnapshot

MB = 1 << 20
GB = 1 << 30


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """A block: its state, the chats that hold it (or held it last) and how many block tables name it."""

    state: BlockState
    owners: tuple[str, ...] = ()
    ref_count: int = 0


def free() -> BlockSpec:
    """A block that nobody holds."""
    return BlockSpec(BlockState.FREE)


def owned(chat_id: str) -> BlockSpec:
    """A block that one sequence of a chat holds."""
    return BlockSpec(BlockState.OWNED, (chat_id,), 1)


def shared(*chat_ids: str, ref_count: int | None = None) -> BlockSpec:
    """A block that several chats hold, or several answers of one."""
    return BlockSpec(BlockState.SHARED, chat_ids, ref_count or max(2, len(chat_ids)))


def cached(chat_id: str) -> BlockSpec:
    """A block that nobody holds and that a chat held last."""
    return BlockSpec(BlockState.CACHED, (chat_id,))


def memory_use() -> MemoryUse:
    """A card of 10 GB with a model of 4.9 GB."""
    return MemoryUse(
        device_name="RTX 3080",
        total_bytes=10 * GB,
        others_bytes=round(0.9 * GB),
        budget_bytes=round(8.3 * GB),
        weights_bytes=round(4.9 * GB),
        workspace_bytes=round(0.6 * GB),
        pool_bytes=1400 * 2 * MB,
        headroom_bytes=round(0.8 * GB),
        on_card=True,
    )


def snapshot_of(blocks: Sequence[BlockSpec], *, block_bytes: int = 2 * MB) -> PoolSnapshot:
    """A snapshot whose counters agree with its blocks."""
    chat_ids = sorted({chat_id for block in blocks for chat_id in block.owners})
    index = {chat_id: number for number, chat_id in enumerate(chat_ids)}
    numbers = [_count(blocks, state) for state in (BlockState.OWNED, BlockState.SHARED, BlockState.CACHED)]
    saved = sum(block.ref_count - 1 for block in blocks if block.state is BlockState.SHARED) * block_bytes
    return PoolSnapshot(
        block_size=16,
        block_bytes=block_bytes,
        states=bytes(block.state for block in blocks),
        owners=_owner_bytes(blocks, index, 0),
        second_owners=_owner_bytes(blocks, index, 1),
        num_owners=bytes(min(255, len(set(block.owners))) if block.ref_count else 0 for block in blocks),
        ref_counts=bytes(min(255, block.ref_count) for block in blocks),
        chats=tuple(_chat_blocks(chat_id, blocks) for chat_id in chat_ids),
        num_owned=numbers[0],
        num_shared=numbers[1],
        num_cached=numbers[2],
        num_free=len(blocks) - sum(numbers),
        peak_held_blocks=numbers[0] + numbers[1],
        peak_shared_blocks=numbers[1],
        num_copied_blocks=3,
        saved_bytes=saved,
        num_running=1,
        num_waiting=0,
        step_index=812,
        step_ms=12.8,
        prompt_tokens=400,
        cached_prompt_tokens=4045,
        generated_tokens=811,
        memory=replace(memory_use(), pool_bytes=len(blocks) * block_bytes),
    )


def random_blocks(num_blocks: int, chat_ids: Sequence[str], seed: int = 1, mean_run: int = 9) -> list[BlockSpec]:
    """Blocks in runs of one kind, as a pool in use has them."""
    random = Random(seed)
    blocks: list[BlockSpec] = []
    while len(blocks) < num_blocks:
        blocks += [_random_block(random, chat_ids)] * random.randint(1, 2 * mean_run)
    return blocks[:num_blocks]


def with_random_changes(
    blocks: Sequence[BlockSpec], share: float, chat_ids: Sequence[str], seed: int = 2
) -> list[BlockSpec]:
    """The same pool with a share of its blocks drawn anew."""
    random = Random(seed)
    return [_random_block(random, chat_ids) if random.random() < share else block for block in blocks]


def _random_block(random: Random, chat_ids: Sequence[str]) -> BlockSpec:
    chosen = random.sample(list(chat_ids), min(3, len(chat_ids)))
    kinds = [owned(chosen[0]), owned(chosen[0]), cached(chosen[0]), free(), shared(*chosen[:2]), shared(*chosen)]
    return random.choice(kinds)


def _count(blocks: Iterable[BlockSpec], state: BlockState) -> int:
    return sum(block.state is state for block in blocks)


def _chat_blocks(chat_id: str, blocks: Sequence[BlockSpec]) -> ChatBlocks:
    of_chat = [block for block in blocks if chat_id in block.owners]
    return ChatBlocks(
        chat_id,
        _count(of_chat, BlockState.OWNED),
        _count(of_chat, BlockState.SHARED),
        _count(of_chat, BlockState.CACHED),
    )


def _owner_bytes(blocks: Sequence[BlockSpec], index: dict[str, int], place: int) -> bytes:
    owners = (block.owners[place] if place < len(block.owners) else None for block in blocks)
    return array("H", [NO_OWNER if owner is None else index[owner] for owner in owners]).tobytes()
