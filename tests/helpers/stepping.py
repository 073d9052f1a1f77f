"""Drives a ModelRunner without a scheduler: sequences with fixed blocks, chunks of chosen sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pagedesk.engine.batch import SampleSpec, SequenceSlice, StepPlan, TablePart
from pagedesk.engine.model_runner import ModelRunner
from pagedesk.protocol import SamplingParams

GREEDY = SamplingParams(temperature=0.0)


@dataclass
class SteppedSequence:
    """A sequence, its blocks, and how its prompt is cut: each next chunk has the next size, round and round."""

    sequence_id: int
    prompt: list[int]
    block_ids: tuple[int, ...]
    chunk_sizes: Sequence[int] = (1 << 30,)
    params: SamplingParams = GREEDY
    seed: int = 0
    generated: list[int] = field(default_factory=list)
    num_computed: int = 0
    num_chunks: int = 0

    @property
    def tokens(self) -> list[int]:
        """Prompt and answer."""
        return self.prompt + self.generated

    def next_slice(self) -> SequenceSlice:
        """What the next step computes; a token is wanted when nothing is left to compute."""
        size = self.chunk_sizes[self.num_chunks % len(self.chunk_sizes)]
        pending = tuple(self.tokens[self.num_computed : self.num_computed + size])
        is_last = self.num_computed + len(pending) == len(self.tokens)
        spec = SampleSpec(self.params, self.seed, len(self.generated)) if is_last else None
        return SequenceSlice(self.sequence_id, pending, self.num_computed, (TablePart(self.block_ids),), spec)

    def update(self, piece: SequenceSlice, token: int | None) -> None:
        """Note what a step did."""
        self.num_computed += len(piece.token_ids)
        self.num_chunks += 1
        if token is not None:
            self.generated.append(token)


def generate(runner: ModelRunner, sequences: Sequence[SteppedSequence], num_tokens: int) -> None:
    """Run all sequences together until each has `num_tokens` new ones."""
    while running := [sequence for sequence in sequences if len(sequence.generated) < num_tokens]:
        pieces = {sequence.sequence_id: sequence.next_slice() for sequence in running}
        result = runner.run(StepPlan(tuple(pieces.values())))
        assert not result.faults
        for sequence in running:
            sequence.update(pieces[sequence.sequence_id], result.tokens.get(sequence.sequence_id))


def scattered_blocks(num_blocks: int, num_each: Sequence[int]) -> list[tuple[int, ...]]:
    """Block tables for several sequences from one pool, physically scattered: strides of a large prime."""
    stride = 7919
    assert num_blocks % stride, "the stride must reach every block"
    order = [index * stride % num_blocks for index in range(num_blocks)]
    tables, start = [], 0
    for count in num_each:
        tables.append(tuple(order[start : start + count]))
        start += count
    assert start <= num_blocks, "the pool is too small"
    return tables
