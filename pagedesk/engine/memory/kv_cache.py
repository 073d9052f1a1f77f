"""The tensor that holds the keys and values of every block. Engine thread.

Block-major: all layers of a group, keys and values, are contiguous, so moving a block is one copy.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from pagedesk.geometry import ModelGeometry


def allocate_kv_cache(
    geometry: ModelGeometry, num_blocks: int, block_size: int, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """The cache, [num_blocks, layers of a group, 2, block_size, num_kv_heads, head_size].

    It is written once, because the first touch of fresh memory stalls (100 ms at every new block, measured on a CPU),
    and because a product with a masked place must not meet a NaN that was there by chance.
    """
    shape = (num_blocks, geometry.layers_per_block, 2, block_size, geometry.num_kv_heads, geometry.head_size)
    return torch.empty(shape, dtype=dtype, device=device).zero_()


def copy_blocks(kv_cache: torch.Tensor, copies: Sequence[tuple[int, int]]) -> None:
    """Copy whole blocks, (source, destination), one after the other."""
    for source, destination in copies:
        kv_cache[destination].copy_(kv_cache[source])


def clean_blocks(kv_cache: torch.Tensor, block_ids: Sequence[int]) -> None:
    """Put numbers in place of NaN and Inf, so that whoever gets these blocks next does not inherit a fault."""
    for block_id in block_ids:
        kv_cache[block_id].nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
