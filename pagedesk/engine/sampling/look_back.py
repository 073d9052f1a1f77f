"""What one sequence has said, kept for the penalties that its request switched on. Engine thread; stdlib only."""

from __future__ import annotations

from collections.abc import Sequence

from pagedesk.engine.batch import Repetition
from pagedesk.engine.sampling.repeated_runs import RepeatedRuns
from pagedesk.engine.sampling.window_counts import WindowCounts
from pagedesk.protocol import SamplingParams


class LookBack:
    """Follows one sequence from its first draw to its end; a lost turn changes nothing.

    Args:
        params: The request's parameters.
        table: The bytes of each token, by id.
    """

    def __init__(self, params: SamplingParams, table: Sequence[bytes]) -> None:
        self._counts = WindowCounts(params.penalty_last_n) if counts_tokens(params) else None
        self._runs = (
            RepeatedRuns(table, params.dry_sequence_breakers, params.dry_penalty_last_n, params.dry_allowed_length)
            if finds_runs(params)
            else None
        )

    def look(self, token_ids: Sequence[int]) -> Repetition:
        """What the penalties need for the next draw; `token_ids` has only grown since last time."""
        return Repetition(
            counts=() if self._counts is None else self._counts.look(token_ids),
            runs=() if self._runs is None else self._runs.look(token_ids),
        )


def looks_back(params: SamplingParams) -> bool:
    """Whether any penalty is on."""
    return counts_tokens(params) or finds_runs(params)


def counts_tokens(params: SamplingParams) -> bool:
    """Whether a penalty needs to know how often tokens were said."""
    return params.repetition_penalty != 1 or params.presence_penalty != 0 or params.frequency_penalty != 0


def finds_runs(params: SamplingParams) -> bool:
    """Whether DRY is on."""
    return params.dry_multiplier > 0
