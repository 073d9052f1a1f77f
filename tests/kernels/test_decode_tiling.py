"""The rules that cut decode attention into programs."""

from __future__ import annotations

import pytest
import torch

from pagedesk_kernels.decode_tiling import MAX_SPLITS, Card, card_of, choose_num_splits, choose_tiling

RTX_2080 = Card(capability=75, num_multiprocessors=46)
RTX_3060 = Card(capability=86, num_multiprocessors=28)
RTX_4090 = Card(capability=89, num_multiprocessors=128)


def test_a_lone_long_chat_is_split_until_the_card_is_full() -> None:
    assert choose_num_splits(RTX_4090, num_programs=8, max_seq_len=32_000) == 32


def test_a_batch_that_fills_the_card_is_not_split() -> None:
    assert choose_num_splits(RTX_3060, num_programs=64 * 8, max_seq_len=32_000) == 1


def test_a_short_chat_is_not_split() -> None:
    assert choose_num_splits(RTX_4090, num_programs=8, max_seq_len=200) == 1


def test_no_more_splits_than_the_merge_can_hold() -> None:
    assert choose_num_splits(RTX_4090, num_programs=1, max_seq_len=1_000_000) == MAX_SPLITS


def test_grouped_heads_use_tensor_cores() -> None:
    assert choose_tiling(RTX_3060, 4, 128, torch.float16).use_dot


@pytest.mark.parametrize(
    ("card", "group_size", "dtype"),
    [(RTX_2080, 4, torch.float16), (RTX_4090, 1, torch.float16), (RTX_4090, 4, torch.float32)],
    ids=["no tensor cores", "one head a group", "float32"],
)
def test_sums_are_used_where_tensor_cores_would_not_help(card: Card, group_size: int, dtype: torch.dtype) -> None:
    assert not choose_tiling(card, group_size, 128, dtype).use_dot


@pytest.mark.parametrize("head_size", [32, 64, 80, 96, 128, 256])
@pytest.mark.parametrize("group_size", [1, 3, 8, 16])
def test_a_tile_without_tensor_cores_leaves_registers_for_its_sums(group_size: int, head_size: int) -> None:
    tile_tokens = choose_tiling(RTX_2080, group_size, head_size, torch.float16).tile_tokens
    assert 4 <= tile_tokens <= 64


def test_a_device_that_is_no_card_counts_as_a_small_one() -> None:
    assert card_of(torch.device("cpu")).num_multiprocessors == 8
