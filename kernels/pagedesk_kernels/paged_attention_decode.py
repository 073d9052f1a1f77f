"""Triton kernels for attention of one query token a sequence over a paged cache (split-KV, grouped query heads).

Contract: runs on the caller's current stream and never waits for the device: how the work is split follows from shapes
and the caller's bound on the lengths. The mathematics is drawn in `kernels/README.md`.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from pagedesk_kernels.decode_tiling import Card, DecodeTiling, card_of, choose_num_splits, choose_tiling

_LOG2_E = 1.4426950408889634


@triton.jit
def _tiles_in_split(seq_len, num_splits, TILE: tl.constexpr):
    """Tiles that each split of a sequence takes; the last used split may take fewer, the rest take none."""
    return tl.maximum(tl.cdiv(tl.cdiv(seq_len, TILE), num_splits), 1)


@triton.jit
def _tile_rows(positions, mask, block_table_ptr, stride_block, stride_slot, BLOCK_SIZE: tl.constexpr):
    """Where the tokens at `positions` start in a cache: int64 [TILE]. Places outside `mask` give block 0."""
    block_ids = tl.load(block_table_ptr + positions // BLOCK_SIZE, mask=mask, other=0).to(tl.int64)
    return block_ids * stride_block + (positions % BLOCK_SIZE) * stride_slot


@triton.jit
def _walk_with_dot(
    queries,  # [GROUP_PADDED, HEAD_PADDED]
    keys_ptr,  # one KV head: [num_blocks, BLOCK_SIZE, HEAD_SIZE]
    values_ptr,  # the same
    block_table_ptr,  # [max_blocks]
    first,
    last,
    scale,
    stride_key_block,
    stride_key_slot,
    stride_value_block,
    stride_value_slot,
    GROUP_PADDED: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_PADDED: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
):
    """Online softmax over tokens [first, last): greatest score, sum and weighted values of each head.

    Every tile holds a token of the sequence, so the greatest score is finite after the first.
    """
    offs_size = tl.arange(0, HEAD_PADDED)
    mask_size = (offs_size < HEAD_SIZE)[None, :]
    greatest = tl.full([GROUP_PADDED], float("-inf"), tl.float32)
    total = tl.zeros([GROUP_PADDED], tl.float32)
    weighted = tl.zeros([GROUP_PADDED, HEAD_PADDED], tl.float32)
    for start in tl.range(first, last, TILE):
        positions = start + tl.arange(0, TILE)
        mask = positions < last
        mask_tile = mask[:, None] & mask_size
        key_rows = _tile_rows(positions, mask, block_table_ptr, stride_key_block, stride_key_slot, BLOCK_SIZE)
        keys = tl.load(keys_ptr + key_rows[:, None] + offs_size[None, :], mask=mask_tile, other=0.0)
        value_rows = _tile_rows(positions, mask, block_table_ptr, stride_value_block, stride_value_slot, BLOCK_SIZE)
        values = tl.load(values_ptr + value_rows[:, None] + offs_size[None, :], mask=mask_tile, other=0.0)

        scores = tl.dot(queries, tl.trans(keys)) * scale  # [GROUP_PADDED, TILE]
        scores = tl.where(mask[None, :], scores, float("-inf"))
        raised = tl.maximum(greatest, tl.max(scores, axis=1))
        shrink = tl.exp2(greatest - raised)
        weights = tl.exp2(scores - raised[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        weighted = tl.dot(weights.to(values.dtype), values, weighted * shrink[:, None])
        greatest = raised
    return greatest, total, weighted


@triton.jit
def _walk_with_sums(
    queries,  # [GROUP_PADDED, HEAD_PADDED]
    keys_ptr,  # one KV head: [num_blocks, BLOCK_SIZE, HEAD_SIZE]
    values_ptr,  # the same
    block_table_ptr,  # [max_blocks]
    first,
    last,
    scale,
    stride_key_block,
    stride_key_slot,
    stride_value_block,
    stride_value_slot,
    GROUP_PADDED: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_PADDED: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
):
    """The same as `_walk_with_dot`, without `tl.dot`.

    Each row of the tile keeps an online softmax of its own, so that nothing crosses threads in the loop but the sum
    over the head; the rows are merged once, at the end. A row may never see a token: its greatest score stays -inf.
    """
    offs_size = tl.arange(0, HEAD_PADDED)[None, None, :]
    mask_size = offs_size < HEAD_SIZE
    queries = queries.to(tl.float32)[:, None, :] * scale
    greatest = tl.full([GROUP_PADDED, TILE], float("-inf"), tl.float32)
    total = tl.zeros([GROUP_PADDED, TILE], tl.float32)
    weighted = tl.zeros([GROUP_PADDED, TILE, HEAD_PADDED], tl.float32)
    for start in tl.range(first, last, TILE, num_stages=STAGES):
        positions = start + tl.arange(0, TILE)[None, :]
        mask = positions < last  # [1, TILE]
        mask_tile = mask[:, :, None] & mask_size
        key_rows = _tile_rows(positions, mask, block_table_ptr, stride_key_block, stride_key_slot, BLOCK_SIZE)
        keys = tl.load(keys_ptr + key_rows[:, :, None] + offs_size, mask=mask_tile, other=0.0).to(tl.float32)
        value_rows = _tile_rows(positions, mask, block_table_ptr, stride_value_block, stride_value_slot, BLOCK_SIZE)
        values = tl.load(values_ptr + value_rows[:, :, None] + offs_size, mask=mask_tile, other=0.0).to(tl.float32)

        scores = tl.where(mask, tl.sum(queries * keys, axis=2), float("-inf"))  # [GROUP_PADDED, TILE]
        raised = tl.maximum(greatest, scores)
        finite = tl.where(raised == float("-inf"), 0.0, raised)
        shrink = tl.exp2(greatest - finite)
        weights = tl.exp2(scores - finite)
        total = total * shrink + weights
        weighted = weighted * shrink[:, :, None] + weights[:, :, None] * values
        greatest = raised

    merged = tl.max(greatest, axis=1)  # [GROUP_PADDED]
    finite = tl.where(merged == float("-inf"), 0.0, merged)
    shrink = tl.exp2(greatest - finite[:, None])
    return merged, tl.sum(total * shrink, axis=1), tl.sum(weighted * shrink[:, :, None], axis=1)


@triton.jit(
    do_not_specialize=["stride_table_seq", "num_splits"],
    do_not_specialize_on_alignment=["block_tables_ptr", "seq_lens_ptr"],
)
def _decode_kernel(
    output_ptr,  # WHOLE: [num_seqs, num_heads, HEAD_SIZE]; else float32 [num_seqs, num_heads, num_splits, HEAD_SIZE]
    logsums_ptr,  # float32 [num_seqs, num_heads, num_splits], base 2; unused when WHOLE
    queries_ptr,  # [num_seqs, num_heads, HEAD_SIZE]
    key_cache_ptr,  # [num_blocks, BLOCK_SIZE, num_kv_heads, HEAD_SIZE]
    value_cache_ptr,  # [num_blocks, BLOCK_SIZE, num_kv_heads, HEAD_SIZE]
    block_tables_ptr,  # int32 [num_seqs, max_blocks]
    seq_lens_ptr,  # int32 [num_seqs]
    scale,  # float32: the softmax scale times log2(e)
    num_splits,
    stride_query_seq,
    stride_query_head,
    stride_table_seq,
    stride_key_block,
    stride_key_slot,
    stride_key_head,
    stride_value_block,
    stride_value_slot,
    stride_value_head,
    GROUP_SIZE: tl.constexpr,
    GROUP_PADDED: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_PADDED: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
    USE_DOT: tl.constexpr,
    WHOLE: tl.constexpr,
):
    split = tl.program_id(0)
    kv_head = tl.program_id(1)
    seq = tl.program_id(2)
    num_heads = tl.num_programs(1) * GROUP_SIZE

    seq_len = tl.load(seq_lens_ptr + seq)
    split_tokens = _tiles_in_split(seq_len, num_splits, TILE) * TILE
    first = split * split_tokens
    last = tl.minimum(first + split_tokens, seq_len)

    offs_group = tl.arange(0, GROUP_PADDED)
    offs_size = tl.arange(0, HEAD_PADDED)
    mask_group = offs_group < GROUP_SIZE
    mask_heads = mask_group[:, None] & (offs_size < HEAD_SIZE)[None, :]
    heads = kv_head * GROUP_SIZE + offs_group
    query_rows = seq.to(tl.int64) * stride_query_seq + heads * stride_query_head
    queries = tl.load(queries_ptr + query_rows[:, None] + offs_size[None, :], mask=mask_heads, other=0.0)

    keys_ptr = key_cache_ptr + kv_head.to(tl.int64) * stride_key_head
    values_ptr = value_cache_ptr + kv_head.to(tl.int64) * stride_value_head
    block_table_ptr = block_tables_ptr + seq.to(tl.int64) * stride_table_seq
    if USE_DOT:
        greatest, total, weighted = _walk_with_dot(
            queries.to(key_cache_ptr.dtype.element_ty),
            keys_ptr,
            values_ptr,
            block_table_ptr,
            first,
            last,
            scale,
            stride_key_block,
            stride_key_slot,
            stride_value_block,
            stride_value_slot,
            GROUP_PADDED,
            HEAD_SIZE,
            HEAD_PADDED,
            BLOCK_SIZE,
            TILE,
        )
    else:
        greatest, total, weighted = _walk_with_sums(
            queries,
            keys_ptr,
            values_ptr,
            block_table_ptr,
            first,
            last,
            scale,
            stride_key_block,
            stride_key_slot,
            stride_value_block,
            stride_value_slot,
            GROUP_PADDED,
            HEAD_SIZE,
            HEAD_PADDED,
            BLOCK_SIZE,
            TILE,
            STAGES,
        )

    # A sequence of no tokens has a sum of 0 and nothing weighted: it gives zeros, not 0 / 0.
    total = tl.where(total == 0.0, 1.0, total)
    attended = weighted / total[:, None]
    rows = seq.to(tl.int64) * num_heads + heads
    if WHOLE:
        output = output_ptr + rows[:, None] * HEAD_SIZE + offs_size[None, :]
        tl.store(output, attended.to(output_ptr.dtype.element_ty), mask=mask_heads)
    else:
        parts = rows * num_splits + split
        used = first < last
        output = output_ptr + parts[:, None] * HEAD_SIZE + offs_size[None, :]
        tl.store(output, attended, mask=mask_heads & used)
        tl.store(logsums_ptr + parts, greatest + tl.log2(total), mask=mask_group & used)


@triton.jit(do_not_specialize=["num_splits"], do_not_specialize_on_alignment=["seq_lens_ptr"])
def _merge_kernel(
    output_ptr,  # [num_seqs, num_heads, HEAD_SIZE]
    parts_ptr,  # float32 [num_seqs, num_heads, num_splits, HEAD_SIZE]
    logsums_ptr,  # float32 [num_seqs, num_heads, num_splits], base 2
    seq_lens_ptr,  # int32 [num_seqs]
    num_splits,
    HEAD_SIZE: tl.constexpr,
    HEAD_PADDED: tl.constexpr,
    SPLITS_PADDED: tl.constexpr,
    TILE: tl.constexpr,
):
    head = tl.program_id(0)
    seq = tl.program_id(1)
    row = seq.to(tl.int64) * tl.num_programs(0) + head

    # What an unused split left in the parts was never written: it is not read either.
    seq_len = tl.load(seq_lens_ptr + seq)
    num_used = tl.cdiv(seq_len, _tiles_in_split(seq_len, num_splits, TILE) * TILE)
    offs_split = tl.arange(0, SPLITS_PADDED)
    offs_size = tl.arange(0, HEAD_PADDED)
    mask_split = offs_split < num_used
    mask_size = offs_size < HEAD_SIZE
    parts_row = row * num_splits + offs_split
    logsums = tl.load(logsums_ptr + parts_row, mask=mask_split, other=float("-inf"))
    parts = tl.load(
        parts_ptr + parts_row[:, None] * HEAD_SIZE + offs_size[None, :],
        mask=mask_split[:, None] & mask_size[None, :],
        other=0.0,
    )  # [SPLITS_PADDED, HEAD_PADDED]

    greatest = tl.max(logsums, axis=0)
    weights = tl.exp2(logsums - tl.where(num_used == 0, 0.0, greatest))
    total = tl.where(num_used == 0, 1.0, tl.sum(weights, axis=0))
    merged = tl.sum(parts * weights[:, None], axis=0) / total
    tl.store(output_ptr + row * HEAD_SIZE + offs_size, merged.to(output_ptr.dtype.element_ty), mask=mask_size)


def paged_attention_decode(
    queries: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
    *,
    max_seq_len: int | None = None,
    num_splits: int | None = None,
    tiling: DecodeTiling | None = None,
    card: Card | None = None,
) -> torch.Tensor:
    """Attend from one query token of each sequence to all of the sequence's cached tokens.

    Args:
        queries: `[num_seqs, num_heads, head_size]`, last dimension contiguous; query head h reads KV head
            `h // (num_heads / num_kv_heads)`.
        key_cache: `[num_blocks, block_size, num_kv_heads, head_size]`, any strides but the last, which is 1.
        value_cache: Same shape and rule as `key_cache`.
        block_tables: int32 `[num_seqs, max_blocks]`; entries past a sequence's last block may hold anything.
        seq_lens: int32 `[num_seqs]`, contiguous: tokens to read, the query's own included; 0: a padded row.
        scale: Factor on the scores before the softmax, usually `head_size ** -0.5`.
        max_seq_len: Bound on `seq_lens` that the host knows; None: what `block_tables` could hold. It decides the
            split, so a bound far above the lengths costs time, never correctness.
        num_splits: Pieces of a sequence, at most `MAX_SPLITS`; None: chosen.
        tiling: How to walk; None: chosen.
        card: What runs it; None: the card of `queries`.

    Returns:
        `[num_seqs, num_heads, head_size]` in the dtype of `queries`; zeros for padded rows.
    """
    num_seqs, num_heads, head_size = queries.shape
    block_size, num_kv_heads = key_cache.shape[1:3]
    assert queries.stride(2) == key_cache.stride(3) == value_cache.stride(3) == block_tables.stride(1) == 1
    assert num_heads % num_kv_heads == 0
    group_size = num_heads // num_kv_heads
    head_padded = triton.next_power_of_2(head_size)
    card = card or card_of(queries.device)
    tiling = tiling or choose_tiling(card, group_size, head_size, key_cache.dtype)
    if max_seq_len is None:
        max_seq_len = block_tables.shape[1] * block_size
    num_splits = num_splits or choose_num_splits(card, max(1, num_seqs * num_kv_heads), max_seq_len)

    output = torch.empty((num_seqs, num_heads, head_size), dtype=queries.dtype, device=queries.device)
    if num_seqs == 0:
        return output
    whole = num_splits == 1
    parts, logsums = (output, output) if whole else _scratch(output, num_splits)
    _decode_kernel[(num_splits, num_kv_heads, num_seqs)](
        parts,
        logsums,
        queries,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        scale * _LOG2_E,
        num_splits,
        *queries.stride()[:2],
        block_tables.stride(0),
        *key_cache.stride()[:3],
        *value_cache.stride()[:3],
        GROUP_SIZE=group_size,
        GROUP_PADDED=max(16 if tiling.use_dot else 1, triton.next_power_of_2(group_size)),
        HEAD_SIZE=head_size,
        HEAD_PADDED=head_padded,
        BLOCK_SIZE=block_size,
        TILE=tiling.tile_tokens,
        STAGES=tiling.num_stages,
        USE_DOT=tiling.use_dot,
        WHOLE=whole,
        num_warps=tiling.num_warps,
        num_stages=tiling.num_stages,
    )
    if not whole:
        _merge_kernel[(num_heads, num_seqs)](
            output,
            parts,
            logsums,
            seq_lens,
            num_splits,
            HEAD_SIZE=head_size,
            HEAD_PADDED=head_padded,
            SPLITS_PADDED=triton.next_power_of_2(num_splits),
            TILE=tiling.tile_tokens,
            num_warps=4 if head_padded <= 128 else 8,
        )
    return output


def _scratch(output: torch.Tensor, num_splits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make room for the parts of each split and the base-2 logarithms of their softmax sums."""
    num_seqs, num_heads, head_size = output.shape
    parts = torch.empty((num_seqs, num_heads, num_splits, head_size), dtype=torch.float32, device=output.device)
    logsums = torch.empty((num_seqs, num_heads, num_splits), dtype=torch.float32, device=output.device)
    return parts, logsums
