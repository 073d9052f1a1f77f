"""Packs the slices of a step into one batch of tensors. Engine thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import torch

from pagedesk.engine.backends.base import AttentionBatch
from pagedesk.engine.batch import SampleSpec, SequenceSlice
from pagedesk.geometry import blocks_for


@dataclass(frozen=True, slots=True)
class PackedStep:
    """A step as tensors.

    Attributes:
        slices: In the order of the batch: those with one token first.
        token_ids: int64 [num_tokens].
        positions: int64 [num_tokens].
        attention: Where the tokens stand in the cache.
    """

    slices: tuple[SequenceSlice, ...]
    token_ids: torch.Tensor
    positions: torch.Tensor
    attention: AttentionBatch

    def sampled(self) -> tuple[list[int], list[int], list[SampleSpec]]:
        """Of the slices that want a token: their sequences, the rows of their last tokens, and how to choose."""
        ends = accumulate(self.attention.host_query_lens)
        wanted = [(piece, end - 1, piece.sample) for piece, end in zip(self.slices, ends, strict=True)]
        sampled = [(piece.sequence_id, row, spec) for piece, row, spec in wanted if spec is not None]
        return [item[0] for item in sampled], [item[1] for item in sampled], [item[2] for item in sampled]


def pack_slices(slices: Sequence[SequenceSlice], block_size: int, device: torch.device) -> PackedStep:
    """Put the slices one after the other, those with one token first."""
    ordered = tuple(sorted(slices, key=lambda piece: len(piece.token_ids) > 1))
    token_ids = list(chain.from_iterable(piece.token_ids for piece in ordered))
    positions = list(chain.from_iterable(_positions(piece) for piece in ordered))
    return PackedStep(
        slices=ordered,
        token_ids=torch.tensor(token_ids, dtype=torch.int64, device=device),
        positions=torch.tensor(positions, dtype=torch.int64, device=device),
        attention=_attention_batch(ordered, block_size, device),
    )


def _positions(piece: SequenceSlice) -> range:
    return range(piece.start_position, piece.start_position + len(piece.token_ids))


def _attention_batch(slices: tuple[SequenceSlice, ...], block_size: int, device: torch.device) -> AttentionBatch:
    query_lens = tuple(len(piece.token_ids) for piece in slices)
    seq_lens = tuple(piece.start_position + len(piece.token_ids) for piece in slices)
    slots = chain.from_iterable(_slots(piece, block_size) for piece in slices)
    return AttentionBatch(
        slot_mapping=torch.tensor(list(slots), dtype=torch.int64, device=device),
        block_tables=torch.tensor(_padded_tables(slices, seq_lens, block_size), dtype=torch.int32, device=device),
        seq_lens=torch.tensor(seq_lens, dtype=torch.int32, device=device),
        cu_seqlens=torch.tensor((0, *accumulate(query_lens)), dtype=torch.int32, device=device),
        host_seq_lens=seq_lens,
        host_query_lens=query_lens,
        num_decodes=sum(length == 1 for length in query_lens),
    )


def _slots(piece: SequenceSlice, block_size: int) -> list[int]:
    blocks = piece.block_ids
    return [blocks[place // block_size] * block_size + place % block_size for place in _positions(piece)]


def _padded_tables(slices: tuple[SequenceSlice, ...], seq_lens: tuple[int, ...], block_size: int) -> list[list[int]]:
    widest = blocks_for(max(seq_lens), block_size)
    tables = (piece.block_ids[: blocks_for(length, block_size)] for piece, length in zip(slices, seq_lens, strict=True))
    return [[*table, *([0] * (widest - len(table)))] for table in tables]
