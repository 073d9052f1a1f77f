"""The kernel that stores keys and values, interpreted on the CPU, against its torch twin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from pagedesk_kernels import reference
from pagedesk_kernels.store_kv import store_kv
from tests.helpers.paged_caches import empty_layer

pytestmark = pytest.mark.interpret

Caches = tuple[torch.Tensor, torch.Tensor]


def _fused_keys_and_values(num_tokens: int, num_kv_heads: int, head_size: int, dtype: torch.dtype) -> Caches:
    """Views of one projection, as a fused query-key-value product gives them."""
    random = torch.Generator().manual_seed(3)
    projection = torch.randn((num_tokens, 4 * num_kv_heads, head_size), generator=random).to(dtype)
    return projection[:, 2 * num_kv_heads : 3 * num_kv_heads], projection[:, 3 * num_kv_heads :]


def _compare(
    num_kv_heads: int, head_size: int, block_size: int, dtype: torch.dtype, cache_dtype: torch.dtype, slots: list[int]
) -> None:
    keys, values = _fused_keys_and_values(len(slots), num_kv_heads, head_size, dtype)
    stored: Caches = empty_layer(6, block_size, num_kv_heads, head_size, cache_dtype)
    expected: Caches = empty_layer(6, block_size, num_kv_heads, head_size, cache_dtype)
    slot_mapping = torch.tensor(slots, dtype=torch.int64)
    store_kv(keys, values, *stored, slot_mapping)
    reference.store_kv(keys, values, *expected, slot_mapping)
    for ours, theirs in zip(stored, expected, strict=True):
        whole, whole_expected = ours._base, theirs._base
        torch.testing.assert_close(whole, whole_expected, rtol=0.0, atol=0.0, equal_nan=True)


@pytest.mark.parametrize(("num_kv_heads", "head_size"), [(1, 64), (3, 64), (2, 80), (5, 96), (1, 256), (2, 20)])
def test_tokens_reach_their_slots_for_every_shape_of_head(
    interpreted: Callable[..., None], num_kv_heads: int, head_size: int
) -> None:
    interpreted(_compare, num_kv_heads, head_size, 16, torch.float32, torch.float32, [95, 0, 17, 16, 15])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bit_tokens_are_copied_bit_for_bit(interpreted: Callable[..., None], dtype: torch.dtype) -> None:
    interpreted(_compare, 2, 64, 16, dtype, dtype, [3, 50])


def test_wider_tokens_are_rounded_to_the_dtype_of_the_cache(interpreted: Callable[..., None]) -> None:
    interpreted(_compare, 2, 64, 16, torch.float32, torch.float16, [3, 50])


def test_padded_rows_write_nothing(interpreted: Callable[..., None]) -> None:
    interpreted(_compare, 2, 64, 16, torch.float32, torch.float32, [-1, 40, -1])


def test_a_block_may_have_any_number_of_slots(interpreted: Callable[..., None]) -> None:
    interpreted(_compare, 2, 64, 5, torch.float32, torch.float32, [29, 4, 5])


def test_an_empty_step_stores_nothing(interpreted: Callable[..., None]) -> None:
    interpreted(_compare, 2, 64, 16, torch.float32, torch.float32, [])
