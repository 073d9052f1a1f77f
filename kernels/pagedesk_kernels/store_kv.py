"""Triton kernel that writes new keys and values into their slots of a paged cache.

Contract: runs on the caller's current stream, allocates nothing, never waits for the device.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize_on_alignment=["slot_mapping_ptr"])
def _store_kv_kernel(
    keys_ptr,  # [num_tokens, num_kv_heads, HEAD_SIZE]
    values_ptr,  # [num_tokens, num_kv_heads, HEAD_SIZE]
    key_cache_ptr,  # [num_blocks, BLOCK_SIZE, num_kv_heads, HEAD_SIZE]
    value_cache_ptr,  # [num_blocks, BLOCK_SIZE, num_kv_heads, HEAD_SIZE]
    slot_mapping_ptr,  # int64 [num_tokens]
    stride_keys_token,
    stride_keys_head,
    stride_values_token,
    stride_values_head,
    stride_key_block,
    stride_key_slot,
    stride_key_head,
    stride_value_block,
    stride_value_slot,
    stride_value_head,
    NUM_KV_HEADS: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    HEADS_PADDED: tl.constexpr,
    SIZE_PADDED: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slot_mapping_ptr + token)
    if slot >= 0:
        block_id = slot // BLOCK_SIZE
        offset = slot % BLOCK_SIZE
        offs_head = tl.arange(0, HEADS_PADDED)[:, None]  # a tile is one token: [HEADS_PADDED, SIZE_PADDED]
        offs_size = tl.arange(0, SIZE_PADDED)[None, :]
        mask = (offs_head < NUM_KV_HEADS) & (offs_size < HEAD_SIZE)

        key = tl.load(keys_ptr + token * stride_keys_token + offs_head * stride_keys_head + offs_size, mask=mask)
        value = tl.load(
            values_ptr + token * stride_values_token + offs_head * stride_values_head + offs_size, mask=mask
        )
        key_row = block_id * stride_key_block + offset * stride_key_slot
        value_row = block_id * stride_value_block + offset * stride_value_slot
        tl.store(key_cache_ptr + key_row + offs_head * stride_key_head + offs_size, key, mask=mask)
        tl.store(value_cache_ptr + value_row + offs_head * stride_value_head + offs_size, value, mask=mask)


def store_kv(
    keys: torch.Tensor,
    values: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Write each token's key and value into its slot of one layer's cache.

    Args:
        keys: `[num_tokens, num_kv_heads, head_size]`, last dimension contiguous (a view of a fused projection will do).
        values: Same shape as `keys`, last dimension contiguous.
        key_cache: `[num_blocks, block_size, num_kv_heads, head_size]`, any strides but the last, which is 1;
            written in place.
        value_cache: Same shape and rule as `key_cache`; written in place.
        slot_mapping: int64 `[num_tokens]`, contiguous: `block_id * block_size + offset`; negative: a padded row, left
            out.
    """
    num_tokens, num_kv_heads, head_size = keys.shape
    assert keys.stride(2) == values.stride(2) == key_cache.stride(3) == value_cache.stride(3) == 1
    assert slot_mapping.dtype == torch.int64
    assert slot_mapping.is_contiguous()
    if num_tokens == 0:
        return
    heads_padded = triton.next_power_of_2(num_kv_heads)
    size_padded = triton.next_power_of_2(head_size)
    _store_kv_kernel[(num_tokens,)](
        keys,
        values,
        key_cache,
        value_cache,
        slot_mapping,
        *keys.stride()[:2],
        *values.stride()[:2],
        *key_cache.stride()[:3],
        *value_cache.stride()[:3],
        NUM_KV_HEADS=num_kv_heads,
        HEAD_SIZE=head_size,
        BLOCK_SIZE=key_cache.shape[1],
        HEADS_PADDED=heads_padded,
        SIZE_PADDED=size_padded,
        num_warps=_num_warps(heads_padded * size_padded),
    )


def _num_warps(num_elements: int) -> int:
    """Warps for a tile: eight elements (16 bytes of a 16-bit dtype) a thread."""
    return min(8, max(1, num_elements // (32 * 8)))
