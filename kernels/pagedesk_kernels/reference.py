"""The torch twins of the kernels: the same names, arguments and meaning, in the plainest words.

Contract: no Triton here; runs on any device; slow and exact, sums in float32. The kernels are tested against this file.
"""

from __future__ import annotations

import torch


def store_kv(
    keys: torch.Tensor,
    values: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Write each token's key and value into its slot of one layer's cache.

    Args:
        keys: `[num_tokens, num_kv_heads, head_size]`.
        values: Same shape as `keys`.
        key_cache: `[num_blocks, block_size, num_kv_heads, head_size]`, any strides; written in place.
        value_cache: Same shape as `key_cache`; written in place.
        slot_mapping: int64 `[num_tokens]`: `block_id * block_size + offset`; negative: a padded row, left out.
    """
    block_size = key_cache.shape[1]
    wanted = slot_mapping >= 0
    slots = slot_mapping[wanted]
    block_ids, offsets = slots // block_size, slots % block_size
    key_cache[block_ids, offsets] = keys[wanted].to(key_cache.dtype)
    value_cache[block_ids, offsets] = values[wanted].to(value_cache.dtype)


def paged_attention_decode(
    queries: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    scale: float,
) -> torch.Tensor:
    """Attend from one query token of each sequence to all of the sequence's cached tokens.

    Args:
        queries: `[num_seqs, num_heads, head_size]`; query head h reads KV head `h // (num_heads / num_kv_heads)`.
        key_cache: `[num_blocks, block_size, num_kv_heads, head_size]`, any strides.
        value_cache: Same shape as `key_cache`.
        block_tables: int32 `[num_seqs, max_blocks]`; entries past a sequence's last block may hold anything.
        seq_lens: int32 `[num_seqs]`: tokens to read, the query's own included; 0: a padded row.
        scale: Factor on the scores before the softmax, usually `head_size ** -0.5`.

    Returns:
        `[num_seqs, num_heads, head_size]` in the dtype of `queries`; zeros for padded rows.
    """
    attended = torch.zeros_like(queries, memory_format=torch.contiguous_format)
    for row, seq_len in enumerate(seq_lens.tolist()):
        if seq_len > 0:
            keys = _gather(key_cache, block_tables[row], seq_len)
            values = _gather(value_cache, block_tables[row], seq_len)
            attended[row] = _attend(queries[row].float(), keys, values, scale).to(queries.dtype)
    return attended


def _gather(cache: torch.Tensor, block_table: torch.Tensor, seq_len: int) -> torch.Tensor:
    """Read a sequence's tokens in order: float32 `[num_kv_heads, seq_len, head_size]`."""
    positions = torch.arange(seq_len, device=cache.device)
    block_ids = block_table[positions // cache.shape[1]].long()
    return cache[block_ids, positions % cache.shape[1]].float().transpose(0, 1)


def _attend(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float) -> torch.Tensor:
    """Softmax attention of `[num_heads, head_size]` over `[num_kv_heads, seq_len, head_size]`."""
    grouped = query.unflatten(0, (keys.shape[0], -1))
    weights = torch.softmax(grouped @ keys.transpose(1, 2) * scale, dim=-1)
    return (weights @ values).flatten(0, 1)
