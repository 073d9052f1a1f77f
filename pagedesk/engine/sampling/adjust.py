"""What a request changes in the scores before anything is ranked: masks, biases, penalties. Engine thread.

Each change touches a few tokens of a row, so the changes of a batch are lists of (row, token, value): the cost grows
with what is changed, not with the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from pagedesk.engine.batch import SampleSpec

_HIGHEST = torch.finfo(torch.float32).max
Change = tuple[int, int, float]


def adjust(scores: torch.Tensor, specs: Sequence[SampleSpec], allowed: torch.Tensor | None) -> None:
    """Change the scores in place: mask, logit bias, penalties, DRY.

    Args:
        scores: float32 [num_rows, vocab_size], finite.
        specs: One for each row.
        allowed: bool [num_rows, vocab_size], the tokens that may be chosen, the others get -inf; None: all may.
    """
    if allowed is not None:
        scores.masked_fill_(~allowed, -torch.inf)
    _subtract(scores, _biases(specs))
    _penalise(scores, specs)
    _subtract(scores, _dry_penalties(specs))


def _biases(specs: Sequence[SampleSpec]) -> Iterable[Change]:
    for row, spec in enumerate(specs):
        for token_id, bias in spec.params.logit_bias:
            yield row, token_id, -bias


def _dry_penalties(specs: Sequence[SampleSpec]) -> Iterable[Change]:
    """Of each token that would go on repeating a run: multiplier * base ** (length - allowed length)."""
    for row, spec in enumerate(specs):
        for token_id, length in () if spec.repetition is None else spec.repetition.runs:
            surplus = length - spec.params.dry_allowed_length
            yield row, token_id, spec.params.dry_multiplier * spec.params.dry_base**surplus


def _subtract(scores: torch.Tensor, changes: Iterable[Change]) -> None:
    places, values = _split(scores, changes)
    if len(values):
        _store(scores, places, scores[places] - values)


def _penalise(scores: torch.Tensor, specs: Sequence[SampleSpec]) -> None:
    """The penalty on repetition scales a score, those on presence and frequency are then taken off."""
    said = [
        (row, token_id, float(count))
        for row, spec in enumerate(specs)
        for token_id, count in (() if spec.repetition is None else spec.repetition.counts)
    ]
    places, counts = _split(scores, said)
    if not len(counts):
        return
    columns = [(p.repetition_penalty, p.presence_penalty, p.frequency_penalty) for p in (s.params for s in specs)]
    factor, presence, frequency = torch.tensor(columns, dtype=torch.float32, device=scores.device)[places[0]].unbind(1)
    old = scores[places]
    scaled = torch.where(old > 0, old / factor, old * factor)
    _store(scores, places, scaled - presence - counts * frequency)


def _split(scores: torch.Tensor, changes: Iterable[Change]) -> tuple[tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Rows and tokens int64 and values float32, without the tokens that the scores lack."""
    known = [change for change in changes if change[1] < scores.shape[1]]
    rows = torch.tensor([row for row, _, _ in known], dtype=torch.int64, device=scores.device)
    tokens = torch.tensor([token_id for _, token_id, _ in known], dtype=torch.int64, device=scores.device)
    return (rows, tokens), torch.tensor([value for _, _, value in known], dtype=torch.float32, device=scores.device)


def _store(scores: torch.Tensor, places: tuple[torch.Tensor, torch.Tensor], changed: torch.Tensor) -> None:
    """Write scores that stay finite; what the mask forbids stays forbidden."""
    is_forbidden = scores[places] == -torch.inf
    scores[places] = changed.clamp(-_HIGHEST, _HIGHEST).masked_fill(is_forbidden, -torch.inf)
