"""What one step computes: the seam between scheduler and runner. Plain values, no tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pagedesk.protocol import SamplingParams


@dataclass(frozen=True, slots=True)
class Repetition:
    """What a sequence has said, as far as its penalties look back.

    Attributes:
        counts: (token id, how often it was said), each token once.
        runs: (token id, length of the run that it would go on repeating), each token once.
    """

    counts: tuple[tuple[int, int], ...] = ()
    runs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """How to choose a token: reproducible from these values alone, so a sequence may lose and regain its turn.

    Attributes:
        params: The request's parameters.
        seed: The sequence's own seed.
        draw_index: How many tokens the sequence has generated so far.
        repetition: What its penalties need; None where none is switched on.
    """

    params: SamplingParams
    seed: int
    draw_index: int
    repetition: Repetition | None = None


class TablePart(NamedTuple):
    """A sequence's blocks in one group of layers, as far as those look back.

    Attributes:
        block_ids: At least up to the last token to compute.
        first_index: Which block of the sequence the first one is.
    """

    block_ids: tuple[int, ...]
    first_index: int = 0


@dataclass(frozen=True, slots=True)
class SequenceSlice:
    """One sequence's share of a step.

    Attributes:
        sequence_id: Whose tokens these are.
        token_ids: The tokens to compute.
        start_position: Position of the first of them; everything before it that a layer looks at is in the cache.
        tables: The sequence's blocks, by group of layers.
        sample: How to choose the next token; None: none is wanted (the prompt goes on).
    """

    sequence_id: int
    token_ids: tuple[int, ...]
    start_position: int
    tables: tuple[TablePart, ...]
    sample: SampleSpec | None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step: block copies first (source, destination), then the slices, packed into one batch."""

    slices: tuple[SequenceSlice, ...]
    copies: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step chose: a token for each slice that wanted one, by sequence id.

    `faults` names sequences whose logits held NaN or Inf; they have no token.
    """

    tokens: dict[int, int]
    faults: frozenset[int] = frozenset()
