"""Packs the slices of a step into one batch of tensors. Engine thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import torch

from pagedesk.engine.backends.base import AttentionBatch
from pagedesk.engine.batch import SampleSpec, SequenceSlice, TablePart
from pagedesk.geometry import blocks_for


@dataclass(frozen=True, slots=True)
class PackedStep:
    """A step as tensors.

    Attributes:
        slices: In the order of the batch: those with one token first.
        token_ids: int64 [num_tokens].
        positions: int64 [num_tokens].
        batches: Where the tokens stand in the cache, by group of layers.
    """

    slices: tuple[SequenceSlice, ...]
    token_ids: torch.Tensor
    positions: torch.Tensor
    batches: tuple[AttentionBatch, ...]

    @property
    def query_lens(self) -> tuple[int, ...]:
        """Tokens of each slice."""
        return self.batches[0].host_query_lens

    def sampled(self) -> tuple[list[int], list[int], list[SampleSpec]]:
        """Of the slices that want a token: their sequences, the rows of their last tokens, and how to choose."""
        ends = accumulate(self.query_lens)
        wanted = [(piece, end - 1, piece.sample) for piece, end in zip(self.slices, ends, strict=True)]
        sampled = [(piece.sequence_id, row, spec) for piece, row, spec in wanted if spec is not None]
        return [item[0] for item in sampled], [item[1] for item in sampled], [item[2] for item in sampled]


def pack_slices(
    slices: Sequence[SequenceSlice], block_size: int, device: torch.device, windows: Sequence[int | None] = (None,)
) -> PackedStep:
    """Put the slices one after the other, those with one token first.

    Args:
        slices: What the step computes; each has a table for each group of layers.
        block_size: Tokens in a block.
        device: Where the tensors go.
        windows: How far each group of layers looks back.
    """
    ordered = tuple(sorted(slices, key=lambda piece: len(piece.token_ids) > 1))
    token_ids = list(chain.from_iterable(piece.token_ids for piece in ordered))
    positions = list(chain.from_iterable(_positions(piece) for piece in ordered))
    return PackedStep(
        slices=ordered,
        token_ids=torch.tensor(token_ids, dtype=torch.int64, device=device),
        positions=torch.tensor(positions, dtype=torch.int64, device=device),
        batches=tuple(
            _attention_batch([_GroupSlice(piece, piece.tables[index], block_size) for piece in ordered], device, window)
            for index, window in enumerate(windows)
        ),
    )


def _positions(piece: SequenceSlice) -> range:
    return range(piece.start_position, piece.start_position + len(piece.token_ids))


class _GroupSlice:
    """A slice as one group of layers sees it: places count from the first block of its table."""

    def __init__(self, piece: SequenceSlice, table: TablePart, block_size: int) -> None:
        self.query_len = len(piece.token_ids)
        self._start = piece.start_position - table.first_index * block_size
        self.seq_len = self._start + self.query_len
        self.block_ids = table.block_ids[: blocks_for(self.seq_len, block_size)]
        self._block_size = block_size

    def slots(self) -> list[int]:
        blocks, size = self.block_ids, self._block_size
        return [blocks[place // size] * size + place % size for place in range(self._start, self.seq_len)]


def _attention_batch(parts: list[_GroupSlice], device: torch.device, window: int | None) -> AttentionBatch:
    query_lens = tuple(part.query_len for part in parts)
    seq_lens = tuple(part.seq_len for part in parts)
    slots = list(chain.from_iterable(part.slots() for part in parts))
    return AttentionBatch(
        slot_mapping=torch.tensor(slots, dtype=torch.int64, device=device),
        block_tables=torch.tensor(_padded([part.block_ids for part in parts]), dtype=torch.int32, device=device),
        seq_lens=torch.tensor(seq_lens, dtype=torch.int32, device=device),
        cu_seqlens=torch.tensor((0, *accumulate(query_lens)), dtype=torch.int32, device=device),
        host_seq_lens=seq_lens,
        host_query_lens=query_lens,
        num_decodes=sum(length == 1 for length in query_lens),
        window=window,
    )


def _padded(tables: list[tuple[int, ...]]) -> list[list[int]]:
    widest = max(map(len, tables))
    return [[*table, *([0] * (widest - len(table)))] for table in tables]
