"""What the kernels become on real cards, read from machine code that is compiled without one."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from pagedesk_kernels.decode_tiling import Card, choose_tiling
from tests.helpers.compiled_kernels import CASES, CompileCase
from tests.helpers.recording_driver import SHARED_LIMIT_BYTES, Program

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)

Compiled = dict[CompileCase, Future[dict[str, Program]]]

MAX_NARROW_LOADS = 8
"""A decode program's loads of block ids, length and query: few, and each small beside a tile."""


def test_no_program_spills_and_each_fits_the_shared_memory(compiled: Compiled, case: CompileCase) -> None:
    for name, program in compiled[case].result().items():
        assert (name, program.stack_bytes, program.spill_instructions) == (name, 0, 0)
        assert program.shared_bytes <= SHARED_LIMIT_BYTES[case.capability]


def test_keys_and_values_are_moved_sixteen_bytes_at_a_time(compiled: Compiled, case: CompileCase) -> None:
    programs = compiled[case].result()
    for name in ("decode, whole", "decode, split"):
        assert programs[name].narrow_loads <= MAX_NARROW_LOADS
        assert programs[name].wide_loads >= 2
    assert set(programs["store_kv"].store_bits) == {128}


def test_the_next_tile_is_on_its_way_while_one_is_computed(compiled: Compiled, case: CompileCase) -> None:
    """Two buffers of keys and of values; sm_75 has no asynchronous copy and keeps one tile in registers."""
    shape = case.shape
    group_size = shape.num_heads // shape.num_kv_heads
    tiling = choose_tiling(Card(case.capability, 60), group_size, shape.head_size, shape.dtype)
    tile_bytes = tiling.tile_tokens * shape.head_size * shape.dtype.itemsize
    needed_bytes = 2 * 2 * tile_bytes if case.capability >= 80 else 0
    assert compiled[case].result()["decode, split"].shared_bytes >= needed_bytes


def test_grouped_heads_meet_tensor_cores_from_sm_80_on(compiled: Compiled, case: CompileCase) -> None:
    shape = case.shape
    grouped = shape.num_heads > shape.num_kv_heads and shape.dtype.itemsize == 2
    expected = grouped and case.capability >= 80
    assert compiled[case].result()["decode, split"].uses_tensor_cores == expected
