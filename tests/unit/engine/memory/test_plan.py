"""The budget is dealt out exactly, and what does not fit is refused with both numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import OutOfBudgetError
from pagedesk.engine.memory.device_memory import DeviceMemory
from pagedesk.engine.memory.plan import HEADROOM_BYTES, MemoryPlan, plan_memory
from pagedesk.geometry import ModelGeometry, block_bytes

GIB = 1 << 30
GEOMETRY = ModelGeometry(
    num_layers=32,
    hidden_size=4096,
    intermediate_size=14336,
    num_heads=32,
    num_kv_heads=8,
    head_size=128,
    vocab_size=128256,
    max_model_len=8192,
)
WEIGHTS = 5 * GIB
BLOCK = block_bytes(GEOMETRY, 2)


def plan(free_gib: float, *, is_host: bool = False, geometry: ModelGeometry = GEOMETRY, **config: object) -> MemoryPlan:
    memory = DeviceMemory("card", 64 * GIB, int(free_gib * GIB), is_host)
    return plan_memory(EngineConfig(Path("m.gguf"), **config), geometry, WEIGHTS, 2, memory)  # type: ignore[arg-type]


def test_the_parts_add_up_to_the_budget() -> None:
    dealt = plan(12)
    assert dealt.budget_bytes == dealt.weights_bytes + dealt.workspace_bytes + dealt.pool_bytes


def test_the_pool_is_whole_blocks() -> None:
    dealt = plan(12)
    assert dealt.pool_bytes == dealt.num_blocks * BLOCK


def test_a_card_gives_what_is_free_but_for_the_headroom() -> None:
    left = 12 * GIB - HEADROOM_BYTES - plan(12).budget_bytes
    assert 0 <= left < BLOCK


def test_the_users_budget_is_the_limit_where_it_is_lower() -> None:
    left = 8 * GIB - plan(12, budget_bytes=8 * GIB).budget_bytes
    assert 0 <= left < BLOCK


def test_more_than_every_sequence_at_full_length_is_not_taken() -> None:
    assert plan(60, max_num_sequences=2).num_blocks == 2 * 512


def test_the_machines_own_memory_is_taken_modestly() -> None:
    assert plan(60, is_host=True).num_blocks == 2 * GIB // BLOCK


def test_the_machines_own_memory_is_taken_as_far_as_the_user_says() -> None:
    assert plan(60, is_host=True, budget_bytes=10 * GIB).budget_bytes > 9 * GIB


def test_an_exact_number_of_blocks_is_taken_exactly() -> None:
    assert plan(12, num_blocks=3).num_blocks == 3


def test_what_does_not_fit_is_refused_with_both_numbers() -> None:
    with pytest.raises(OutOfBudgetError, match=r"needs at least 5,\d{3} MiB .* may use 4,096 MiB"):
        plan(12, budget_bytes=4 * GIB)


def test_more_blocks_than_fit_are_refused() -> None:
    with pytest.raises(OutOfBudgetError):
        plan(12, num_blocks=100_000)


def test_the_workspace_grows_with_the_largest_step() -> None:
    assert plan(12, max_batch_tokens=512).workspace_bytes > plan(12, max_batch_tokens=256).workspace_bytes


def test_windows_make_a_block_smaller_and_a_long_sequence_cheaper() -> None:
    """Half of the layers look back on 1,024 tokens: 8,192 tokens are 512 blocks, and (1,023 + 256) / 16, rounded up,
    and one more where a window begins inside a block.
    """
    mixed = replace(GEOMETRY, layer_windows=(1024, None) * 16)
    dealt = plan(60, geometry=mixed, max_num_sequences=1)
    assert (dealt.block_bytes, dealt.num_blocks) == (BLOCK // 2, 512 + 81)


def test_capped_scores_need_workspace() -> None:
    capped = replace(GEOMETRY, caps_scores=True)
    assert plan(12, geometry=capped).workspace_bytes > plan(12).workspace_bytes
