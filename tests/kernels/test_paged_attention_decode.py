"""Decode attention, interpreted on the CPU, against its torch twin: caches hold NaN wherever nothing was stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
import torch

from pagedesk_kernels import reference
from pagedesk_kernels.decode_tiling import DecodeTiling
from pagedesk_kernels.paged_attention_decode import paged_attention_decode
from tests.helpers.paged_caches import paged_case

pytestmark = pytest.mark.interpret

WALKS = pytest.mark.parametrize("use_dot", [True, False], ids=["dot", "sums"])
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


@dataclass(frozen=True)
class Attention:
    """What is compared; the lengths cover an empty, a one-token, a full-block and a many-tile sequence."""

    use_dot: bool = False
    num_splits: int | None = 3
    seq_lens: Sequence[int] = (0, 1, 16, 37, 130)
    num_kv_heads: int = 2
    group_size: int = 2
    head_size: int = 64
    block_size: int = 16
    dtype: torch.dtype = torch.float32
    spread: float = 1.0
    max_seq_len: int | None = None
    tolerance: float | None = None


def _compare(wanted: Attention) -> None:
    case = paged_case(
        wanted.seq_lens,
        num_kv_heads=wanted.num_kv_heads,
        group_size=wanted.group_size,
        head_size=wanted.head_size,
        block_size=wanted.block_size,
        dtype=wanted.dtype,
        spread=wanted.spread,
    )
    attended = paged_attention_decode(
        *case.arguments,
        max_seq_len=wanted.max_seq_len,
        num_splits=wanted.num_splits,
        tiling=DecodeTiling(wanted.use_dot, tile_tokens=16, num_warps=4, num_stages=2),
    )
    tolerance = wanted.tolerance or TOLERANCE[wanted.dtype]
    expected = reference.paged_attention_decode(*case.arguments)
    torch.testing.assert_close(attended, expected, rtol=tolerance, atol=tolerance)


@WALKS
@pytest.mark.parametrize("group_size", [1, 3, 4, 8])
def test_query_heads_of_a_group_read_their_own_kv_head(
    interpreted: Callable[..., None], group_size: int, *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, group_size=group_size))


@WALKS
@pytest.mark.parametrize("head_size", [80, 96, 128, 256])
def test_head_sizes_that_fill_no_power_of_two_are_masked(
    interpreted: Callable[..., None], head_size: int, *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, head_size=head_size, seq_lens=(21, 3)))


@WALKS
@pytest.mark.parametrize("num_splits", [1, 2, 7, 64])
def test_any_number_of_splits_gives_the_same_attention(
    interpreted: Callable[..., None], num_splits: int, *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, num_splits=num_splits))


@WALKS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bit_caches_are_summed_in_float32(
    interpreted: Callable[..., None], dtype: torch.dtype, *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, dtype=dtype))


@WALKS
def test_a_sharp_softmax_neither_overflows_nor_loses_its_peak(
    interpreted: Callable[..., None], *, use_dot: bool
) -> None:
    """Scores of several hundred carry an error of some 1e-5 each, whoever sums them."""
    interpreted(_compare, Attention(use_dot, spread=100.0, tolerance=2e-4))


@WALKS
def test_a_tile_may_span_blocks_and_blocks_may_have_any_size(
    interpreted: Callable[..., None], *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, block_size=5, seq_lens=(23, 40)))


@WALKS
@pytest.mark.parametrize("num_splits", [1, 4])
def test_a_batch_of_padded_rows_gives_zeros(
    interpreted: Callable[..., None], num_splits: int, *, use_dot: bool
) -> None:
    interpreted(_compare, Attention(use_dot, num_splits=num_splits, seq_lens=(0, 0)))


@pytest.mark.parametrize("max_seq_len", [None, 400, 100_000])
def test_the_launcher_splits_by_itself_whatever_bound_it_is_told(
    interpreted: Callable[..., None], max_seq_len: int | None
) -> None:
    interpreted(_compare, Attention(num_splits=None, seq_lens=(400, 9), max_seq_len=max_seq_len))


def test_an_empty_batch_gives_an_empty_answer(interpreted: Callable[..., None]) -> None:
    interpreted(_compare, Attention(seq_lens=()))
