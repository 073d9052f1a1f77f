"""Builders of paged caches as the engine has them: block-major, blocks in random physical order, unused slots NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

NUM_LAYERS = 3
LAYER = 1


@dataclass(frozen=True)
class PagedCase:
    """Everything that decode attention reads.

    Attributes:
        queries: `[num_seqs, num_heads, head_size]`, a view of a wider projection.
        key_cache: One layer's `[num_blocks, block_size, num_kv_heads, head_size]`, a strided view.
        value_cache: The same for values.
        block_tables: int32 `[num_seqs, max_blocks]`, -1 where no block is.
        seq_lens: int32 `[num_seqs]`.
        scale: The softmax scale.
        keys: For each sequence its keys in order, `[seq_len, num_kv_heads, head_size]`.
        values: The same for values.
    """

    queries: torch.Tensor
    key_cache: torch.Tensor
    value_cache: torch.Tensor
    block_tables: torch.Tensor
    seq_lens: torch.Tensor
    scale: float
    keys: tuple[torch.Tensor, ...]
    values: tuple[torch.Tensor, ...]

    @property
    def arguments(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, float]:
        """What `paged_attention_decode` takes, in order."""
        return self.queries, self.key_cache, self.value_cache, self.block_tables, self.seq_lens, self.scale


def empty_layer(
    num_blocks: int, block_size: int, num_kv_heads: int, head_size: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make the key and value cache of the middle layer of a block-major tensor that is NaN all over."""
    whole = torch.full((num_blocks, NUM_LAYERS, 2, block_size, num_kv_heads, head_size), torch.nan, dtype=dtype)
    return whole[:, LAYER, 0], whole[:, LAYER, 1]


def paged_case(
    seq_lens: Sequence[int],
    *,
    num_kv_heads: int = 2,
    group_size: int = 1,
    head_size: int = 64,
    block_size: int = 16,
    dtype: torch.dtype = torch.float32,
    spread: float = 1.0,
) -> PagedCase:
    """Fill a cache with random sequences; the same arguments give the same numbers.

    Args:
        seq_lens: Tokens of each sequence.
        num_kv_heads: Heads of the cache.
        group_size: Query heads a KV head.
        head_size: Elements of a head.
        block_size: Tokens of a block.
        dtype: Of queries and cache.
        spread: Standard deviation of the queries: a large one makes the softmax sharp.
    """
    random = torch.Generator().manual_seed(7)
    counts = [-(-seq_len // block_size) for seq_len in seq_lens]
    num_blocks = sum(counts) + 3
    free = torch.randperm(num_blocks, generator=random).tolist()
    tables = torch.full((len(seq_lens), max(counts, default=0) + 2), -1, dtype=torch.int32)
    key_cache, value_cache = empty_layer(num_blocks, block_size, num_kv_heads, head_size, dtype)
    keys, values = [], []
    for row, (seq_len, count) in enumerate(zip(seq_lens, counts, strict=True)):
        tables[row, :count] = torch.tensor([free.pop() for _ in range(count)], dtype=torch.int32)
        shape = (seq_len, num_kv_heads, head_size)
        keys.append(torch.randn(shape, generator=random).to(dtype))
        values.append(torch.randn(shape, generator=random).to(dtype))
        for position in range(seq_len):
            block_id, offset = int(tables[row, position // block_size]), position % block_size
            key_cache[block_id, offset] = keys[-1][position]
            value_cache[block_id, offset] = values[-1][position]
    num_heads = num_kv_heads * group_size
    projection = torch.randn((len(seq_lens), num_heads + 2 * num_kv_heads, head_size), generator=random) * spread
    return PagedCase(
        queries=projection.to(dtype)[:, :num_heads],
        key_cache=key_cache,
        value_cache=value_cache,
        block_tables=tables,
        seq_lens=torch.tensor(seq_lens, dtype=torch.int32),
        scale=head_size**-0.5,
        keys=tuple(keys),
        values=tuple(values),
    )
