"""Attention over blocks in plain torch: gather by the block table, then scaled dot product.

Engine thread. Rows with one query are batched, padded to the longest of their group and masked; each longer chunk is
computed by itself, causal from where its cached prefix ends. A window only masks: what is outside is hardly there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.nn import functional

from pagedesk.engine.backends.base import AttentionBatch
from pagedesk.geometry import blocks_for


@dataclass(frozen=True, slots=True)
class _Gather:
    """What one call of the scaled dot product reads.

    Attributes:
        rows: The queries, as a slice of the packed batch.
        block_ids: int64 [num_sequences * blocks each].
        num_sequences: How many sequences are computed together.
        num_tokens: Cached tokens that are kept of each sequence's blocks.
        mask: True where a query may look, or None where it may look at everything.
    """

    rows: slice
    block_ids: torch.Tensor
    num_sequences: int
    num_tokens: int
    mask: torch.Tensor | None


class Scoring(NamedTuple):
    """How a query scores a key: their product times `scale`, then softly within `softcap`, if there is one."""

    scale: float
    softcap: float | None = None


class ReferenceAttention:
    """The attention of one step."""

    def __init__(self, batch: AttentionBatch, scoring: Scoring, block_size: int, max_gathered_tokens: int) -> None:
        self._scoring = scoring
        self._kept_rows, self._slot_blocks, self._slot_offsets = _slots(batch.slot_mapping, block_size)
        self._decodes = [_plan_decodes(batch, rows, block_size) for rows in _groups(batch, max_gathered_tokens)]
        self._chunks = list(_plan_chunks(batch, block_size))

    def store(
        self, keys: torch.Tensor, values: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor
    ) -> None:
        """Write the step's keys and values to the slots of the batch; padded rows are skipped."""
        if self._kept_rows is not None:
            keys, values = keys[self._kept_rows], values[self._kept_rows]
        key_cache[self._slot_blocks, self._slot_offsets] = keys
        value_cache[self._slot_blocks, self._slot_offsets] = values

    def attend(self, queries: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor) -> torch.Tensor:
        """Causal attention of each query over its sequence's blocks, [num_tokens, num_heads, head_size]."""
        output = torch.empty_like(queries, memory_format=torch.contiguous_format)
        for gather in self._decodes:
            output[gather.rows] = self._attend_decodes(queries[gather.rows], gather, key_cache, value_cache)
        for gather in self._chunks:
            output[gather.rows] = self._attend_chunk(queries[gather.rows], gather, key_cache, value_cache)
        return output

    def _attend_decodes(
        self, queries: torch.Tensor, gather: _Gather, key_cache: torch.Tensor, value_cache: torch.Tensor
    ) -> torch.Tensor:
        """The query heads of a KV head are rows of one product, so keys are not repeated."""
        num_rows, num_heads, head_size = queries.shape
        num_kv_heads = key_cache.shape[2]
        grouped = queries.reshape(num_rows, num_kv_heads, num_heads // num_kv_heads, head_size)
        keys, values = _gathered(key_cache, gather), _gathered(value_cache, gather)
        attended = _attention(grouped, keys, values, gather.mask, self._scoring)
        return attended.reshape(num_rows, num_heads, head_size)

    def _attend_chunk(
        self, queries: torch.Tensor, gather: _Gather, key_cache: torch.Tensor, value_cache: torch.Tensor
    ) -> torch.Tensor:
        keys, values = _gathered(key_cache, gather), _gathered(value_cache, gather)
        attended = _attention(queries.transpose(0, 1).unsqueeze(0), keys, values, gather.mask, self._scoring)
        return attended.squeeze(0).transpose(0, 1)


def _attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None, scoring: Scoring
) -> torch.Tensor:
    """Scaled dot product of [batch, num_heads, num_queries, head_size] over [batch, num_kv_heads, num_tokens, ...]."""
    if scoring.softcap is None:
        return functional.scaled_dot_product_attention(
            queries, keys, values, mask, scale=scoring.scale, enable_gqa=queries.shape[1] != keys.shape[1]
        )
    heads = zip(
        queries.chunk(keys.shape[1], dim=1),
        keys.chunk(keys.shape[1], dim=1),
        values.chunk(keys.shape[1], dim=1),
        strict=True,
    )
    scale, cap = scoring.scale, scoring.softcap
    return torch.cat([_capped_attention(*of_one_kv_head, mask, scale, cap) for of_one_kv_head in heads], dim=1)


def _capped_attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
    softcap: float,
) -> torch.Tensor:
    """The same for one KV head, whose query heads are rows of one product; torch's own function caps no scores."""
    rows = queries.flatten(1, 2).unsqueeze(1)
    scores = (rows @ keys.transpose(2, 3)).to(torch.float32).mul_(scale / softcap)
    scores = scores.tanh_().mul_(softcap).view(*queries.shape[:3], -1)
    if mask is not None:
        scores.masked_fill_(~mask, float("-inf"))
    weights = scores.softmax(-1).to(values.dtype).view(*rows.shape[:3], -1)
    return (weights @ values).view(queries.shape)


def _slots(slot_mapping: torch.Tensor, block_size: int) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor]:
    """Which rows are kept (None: all), and the block and the offset of each."""
    kept: torch.Tensor | None = None
    if bool((slot_mapping < 0).any()):
        kept = (slot_mapping >= 0).nonzero().squeeze(1)
        slot_mapping = slot_mapping[kept]
    return kept, slot_mapping // block_size, slot_mapping % block_size


def _groups(batch: AttentionBatch, max_gathered_tokens: int) -> Iterator[range]:
    """Neighbouring decode rows that together gather at most `max_gathered_tokens`, but at least one row each."""
    start, longest = 0, 0
    for row in range(batch.num_decodes):
        longest = max(longest, batch.host_seq_lens[row])
        if row > start and longest * (row + 1 - start) > max_gathered_tokens:
            yield range(start, row)
            start, longest = row, batch.host_seq_lens[row]
    if batch.num_decodes:
        yield range(start, batch.num_decodes)


def _plan_decodes(batch: AttentionBatch, rows: range, block_size: int) -> _Gather:
    lens = batch.host_seq_lens[rows.start : rows.stop]
    longest = max(lens)
    block_ids = batch.block_tables[rows.start : rows.stop, : blocks_for(longest, block_size)].to(torch.int64)
    mask: torch.Tensor | None = None
    if min(lens) < longest or (batch.window is not None and longest > batch.window):
        mask = _decode_mask(batch.seq_lens[rows.start : rows.stop, None], longest, batch.window)
    return _Gather(slice(rows.start, rows.stop), block_ids.flatten(), len(rows), longest, mask)


def _decode_mask(seq_lens: torch.Tensor, longest: int, window: int | None) -> torch.Tensor:
    places = torch.arange(longest, device=seq_lens.device)
    mask = places < seq_lens
    if window is not None:
        mask &= places >= seq_lens - window
    return mask[:, None, None, :]


def _plan_chunks(batch: AttentionBatch, block_size: int) -> Iterator[_Gather]:
    start = batch.num_decodes
    for index in range(batch.num_decodes, len(batch.host_seq_lens)):
        num_queries, num_tokens = batch.host_query_lens[index], batch.host_seq_lens[index]
        block_ids = batch.block_tables[index, : blocks_for(num_tokens, block_size)].to(torch.int64)
        mask = torch.ones(num_queries, num_tokens, dtype=torch.bool, device=block_ids.device)
        mask = mask.tril_(diagonal=num_tokens - num_queries)
        if batch.window is not None:
            mask = mask.triu_(diagonal=num_tokens - num_queries - batch.window + 1)
        yield _Gather(slice(start, start + num_queries), block_ids, 1, num_tokens, mask)
        start += num_queries


def _gathered(cache: torch.Tensor, gather: _Gather) -> torch.Tensor:
    """The cached tokens of each sequence, [num_sequences, num_kv_heads, num_tokens, head_size]."""
    num_kv_heads, head_size = cache.shape[2:]
    blocks = cache.index_select(0, gather.block_ids)
    tokens = blocks.view(gather.num_sequences, -1, num_kv_heads, head_size)[:, : gather.num_tokens]
    return tokens.transpose(1, 2)
