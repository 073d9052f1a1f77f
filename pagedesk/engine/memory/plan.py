"""The budget: how the memory that PageDesk may use is dealt to weights, workspace and pool.

Plain arithmetic, any thread. On a desktop running out must be a decision made here, before the load, not an exception
in the middle of a chat.
"""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import OutOfBudgetError
from pagedesk.engine.memory.device_memory import DeviceMemory
from pagedesk.engine.memory.workspace import StepLimits, workspace_bytes
from pagedesk.geometry import ModelGeometry, block_bytes, sequence_blocks

MIB = 1 << 20
HEADROOM_BYTES = 512 * MIB
"""What is left to other programs of what is free now."""
_HOST_POOL_BYTES = 2048 * MIB
_HOST_FULL_CONTEXTS = 8
_MIN_POOL_TOKENS = 256


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes of each part; `budget_bytes` covers weights, workspace and pool."""

    budget_bytes: int
    weights_bytes: int
    workspace_bytes: int
    pool_bytes: int
    headroom_bytes: int
    block_bytes: int
    num_blocks: int


def plan_memory(
    config: EngineConfig, geometry: ModelGeometry, weights_bytes: int, element_bytes: int, memory: DeviceMemory
) -> MemoryPlan:
    """Deal out what is free.

    Args:
        config: The user's limits.
        geometry: The model's sizes.
        weights_bytes: Exact, from the tensor table.
        element_bytes: Bytes of a cached number and of an activation.
        memory: The device now.

    Raises:
        OutOfBudgetError: It does not fit.
    """
    limits = StepLimits(config.max_batch_tokens, config.max_num_sequences, element_bytes)
    fixed_bytes = weights_bytes + workspace_bytes(geometry, limits)
    one_block = block_bytes(geometry, element_bytes, config.block_size)
    allowed_bytes = _allowed_bytes(config, memory)
    fewest = config.num_blocks or _sequence_blocks(config, geometry, min(_MIN_POOL_TOKENS, geometry.max_model_len))
    if fixed_bytes + fewest * one_block > allowed_bytes:
        raise _out_of_budget(fixed_bytes + fewest * one_block, allowed_bytes)
    most = config.num_blocks or _most_blocks(config, geometry, memory, one_block)
    num_blocks = max(fewest, min(most, (allowed_bytes - fixed_bytes) // one_block))
    return MemoryPlan(
        budget_bytes=fixed_bytes + num_blocks * one_block,
        weights_bytes=weights_bytes,
        workspace_bytes=fixed_bytes - weights_bytes,
        pool_bytes=num_blocks * one_block,
        headroom_bytes=HEADROOM_BYTES,
        block_bytes=one_block,
        num_blocks=num_blocks,
    )


def _allowed_bytes(config: EngineConfig, memory: DeviceMemory) -> int:
    free_bytes = max(0, memory.free_bytes - HEADROOM_BYTES)
    return free_bytes if config.budget_bytes is None else min(free_bytes, config.budget_bytes)


def _most_blocks(config: EngineConfig, geometry: ModelGeometry, memory: DeviceMemory, one_block: int) -> int:
    """More than every sequence at full length is of no use; a PC's own memory is taken modestly unless asked for."""
    full_context = _sequence_blocks(config, geometry, geometry.max_model_len)
    if not memory.is_host or config.budget_bytes is not None:
        return config.max_num_sequences * full_context
    modest_bytes = min(_HOST_POOL_BYTES, memory.free_bytes // 4)
    return min(_HOST_FULL_CONTEXTS * full_context, modest_bytes // one_block)


def _sequence_blocks(config: EngineConfig, geometry: ModelGeometry, num_tokens: int) -> int:
    windows = [group.window for group in geometry.groups]
    return sequence_blocks(windows, num_tokens, config.max_batch_tokens, config.block_size)


def _out_of_budget(needed_bytes: int, allowed_bytes: int) -> OutOfBudgetError:
    cause = (
        f"This model needs at least {needed_bytes / MIB:,.0f} MiB for weights, workspace and cache; "
        f"PageDesk may use {allowed_bytes / MIB:,.0f} MiB."
    )
    return OutOfBudgetError(cause, "Close other programs, raise the memory budget, or choose a smaller model.")
