"""The cache tensor and what is done to whole blocks."""

from __future__ import annotations

import torch

from pagedesk.engine.memory.kv_cache import allocate_kv_cache, clean_blocks, copy_blocks
from pagedesk.geometry import ModelGeometry, block_bytes

GEOMETRY = ModelGeometry(2, 64, 128, 4, 2, 16, 300, 512)


def cache() -> torch.Tensor:
    return allocate_kv_cache(GEOMETRY, 5, 16, torch.float32, torch.device("cpu"))


def test_blocks_are_the_outermost_axis() -> None:
    assert cache().shape == (5, 2, 2, 16, 2, 16)


def test_a_block_is_contiguous_and_as_large_as_the_arithmetic_says() -> None:
    block = cache()[3]
    assert block.is_contiguous()
    assert block.nbytes == block_bytes(GEOMETRY, 4)


def test_a_copied_block_holds_what_its_source_holds() -> None:
    kv_cache = cache()
    kv_cache[1] = 7
    copy_blocks(kv_cache, [(1, 4)])
    assert kv_cache[:, 0, 0, 0, 0, 0].tolist() == [0, 7, 0, 0, 7]


def test_copies_are_done_one_after_the_other() -> None:
    kv_cache = cache()
    kv_cache[1] = 7
    copy_blocks(kv_cache, [(1, 2), (2, 3)])
    assert kv_cache[:, 0, 0, 0, 0, 0].tolist() == [0, 7, 7, 7, 0]


def test_a_cleaned_block_holds_numbers_only() -> None:
    kv_cache = cache()
    kv_cache[1], kv_cache[2, 0], kv_cache[3] = float("nan"), float("-inf"), 5
    clean_blocks(kv_cache, [1, 2])
    assert kv_cache.isfinite().all()
    assert bool((kv_cache[3] == 5).all())
