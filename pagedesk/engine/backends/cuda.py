"""The house for NVIDIA cards: Triton kernels over the paged cache, torch for the rest.

Engine thread. Importing it imports Triton: do so only where a card is. New keys and values, and the rows that have one
query, go through kernels; longer chunks of a prompt take the exact torch path over the same cache.
"""

from __future__ import annotations

import dataclasses

import torch
from typing_extensions import override

from pagedesk.engine.backends.base import AttentionBatch, StepAttention
from pagedesk.engine.backends.reference import ReferenceBackend
from pagedesk_kernels import reference
from pagedesk_kernels.paged_attention_decode import paged_attention_decode
from pagedesk_kernels.store_kv import store_kv


class CudaBackend(ReferenceBackend):
    """Kernels for the cache; torch's own functions, which are cuBLAS and fused kernels there, for the rest."""

    @property
    @override
    def name(self) -> str:
        return "cuda"

    @override
    def plan_attention(self, batch: AttentionBatch, scale: float, softcap: float | None = None) -> StepAttention:
        if batch.window is not None or softcap is not None:  # the decode kernel knows neither
            return super().plan_attention(batch, scale, softcap)
        chunks = _chunks_of(batch)
        planned = super().plan_attention(chunks, scale) if chunks.host_query_lens else None
        return CudaAttention(batch, scale, planned)


class CudaAttention:
    """The attention of one step: kernels for rows with one query, `chunks` for what follows them in the batch."""

    def __init__(self, batch: AttentionBatch, scale: float, chunks: StepAttention | None) -> None:
        num_decodes = batch.num_decodes
        self._scale = scale
        self._num_decodes = num_decodes
        self._slot_mapping = batch.slot_mapping
        self._block_tables = batch.block_tables[:num_decodes]
        self._seq_lens = batch.seq_lens[:num_decodes]
        self._max_seq_len = max(batch.host_seq_lens[:num_decodes], default=0)
        self._chunks = chunks

    def store(
        self, keys: torch.Tensor, values: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor
    ) -> None:
        """Write the step's keys and values to the slots of the batch; padded rows are skipped."""
        store_kv(keys, values, key_cache, value_cache, self._slot_mapping)

    def attend(self, queries: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor) -> torch.Tensor:
        """Causal attention of each query over its sequence's blocks, [num_tokens, num_heads, head_size]."""
        decoded = paged_attention_decode(
            queries[: self._num_decodes],
            key_cache,
            value_cache,
            self._block_tables,
            self._seq_lens,
            self._scale,
            max_seq_len=self._max_seq_len,
        )
        if self._chunks is None:
            return decoded
        return torch.cat((decoded, self._chunks.attend(queries[self._num_decodes :], key_cache, value_cache)))


def why_not_cuda(device: torch.device, dtype: torch.dtype) -> str | None:
    """Try both kernels on one token: None if they work, else the reason in a sentence.

    Triton compiles at first use and may lack what it needs on a user's machine (a C compiler, a driver that is new
    enough, a folder for its cache); it is better to know that before the first message than in the middle of it.
    """
    token = torch.arange(64, dtype=torch.float32, device=device).reshape(1, 1, 64).to(dtype)
    cache = torch.zeros((1, 2, 16, 1, 64), dtype=dtype, device=device)
    key_cache, value_cache = cache[:, 0], cache[:, 1]
    block_tables = torch.zeros((1, 1), dtype=torch.int32, device=device)
    seq_lens = torch.ones(1, dtype=torch.int32, device=device)
    arguments = (token, key_cache, value_cache, block_tables, seq_lens, 0.125)
    try:
        store_kv(token, token, key_cache, value_cache, torch.zeros(1, dtype=torch.int64, device=device))
        attended = paged_attention_decode(*arguments)
    except Exception as error:  # noqa: BLE001 - a toolchain fails in its own ways; any means that this house is closed
        return f"Triton cannot run kernels on this machine: {str(error).strip() or type(error).__name__}"
    if torch.equal(attended, reference.paged_attention_decode(*arguments)) and torch.equal(attended, token):
        return None
    return "Triton's kernels give wrong numbers on this card."


def _chunks_of(batch: AttentionBatch) -> AttentionBatch:
    """What follows the rows with one query, as a batch of its own."""
    skipped = batch.num_decodes
    return dataclasses.replace(
        batch,
        slot_mapping=batch.slot_mapping[skipped:],
        block_tables=batch.block_tables[skipped:],
        seq_lens=batch.seq_lens[skipped:],
        cu_seqlens=batch.cu_seqlens[skipped:] - skipped,
        host_seq_lens=batch.host_seq_lens[skipped:],
        host_query_lens=batch.host_query_lens[skipped:],
        num_decodes=0,
    )
