"""What a request changes in the scores before anything is ranked: masks, biases, penalties. Engine thread.

Each change touches a few tokens of a row, so the changes of a batch are lists of (row, token, value): the cost grows
with what is changed, not with the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    vocab_size = scores.shape[1]
    _subtract(scores, [change for change in _biases(specs) if change[1] < vocab_size])
    _penalise(scores, specs, [change for change in _counts(specs) if change[1] < vocab_size])
    _subtract(scores, [change for change in _dry_penalties(specs) if change[1] < vocab_size])


def _biases(specs: Sequence[SampleSpec]) -> Iterator[Change]:
    for row, spec in enumerate(specs):
        for token_id, bias in spec.params.logit_bias:
            yield row, token_id, -bias


def _counts(specs: Sequence[SampleSpec]) -> Iterator[Change]:
    for row, spec in enumerate(specs):
        for token_id, count in () if spec.repetition is None else spec.repetition.counts:
            yield row, token_id, count


def _dry_penalties(specs: Sequence[SampleSpec]) -> Iterator[Change]:
    """Of each token that would go on repeating a run: multiplier * base ** (length - allowed length)."""
    for row, spec in enumerate(specs):
        for token_id, length in () if spec.repetition is None else spec.repetition.runs:
            surplus = length - spec.params.dry_allowed_length
            yield row, token_id, spec.params.dry_multiplier * spec.params.dry_base**surplus


def _subtract(scores: torch.Tensor, changes: Sequence[Change]) -> None:
    if changes:
        places, values = _split(changes, scores.device)
        _store(scores, places, scores[places] - values)


def _penalise(scores: torch.Tensor, specs: Sequence[SampleSpec], changes: Sequence[Change]) -> None:
    """The penalty on repetition scales a score, those on presence and frequency are then taken off."""
    if not changes:
        return
    places, counts = _split(changes, scores.device)
    columns = [(p.repetition_penalty, p.presence_penalty, p.frequency_penalty) for p in (s.params for s in specs)]
    factor, presence, frequency = torch.tensor(columns, dtype=torch.float32, device=scores.device)[places[0]].unbind(1)
    old = scores[places]
    scaled = torch.where(old > 0, old / factor, old * factor)
    _store(scores, places, scaled - presence - counts * frequency)


_Places = tuple[torch.Tensor, torch.Tensor]


def _split(changes: Sequence[Change], device: torch.device) -> tuple[_Places, torch.Tensor]:
    """Rows and tokens int64, values float32."""
    rows, tokens, values = zip(*changes, strict=True)
    places = (torch.tensor(rows, device=device), torch.tensor(tokens, device=device))
    return places, torch.tensor(values, dtype=torch.float32, device=device)


def _store(scores: torch.Tensor, places: _Places, changed: torch.Tensor) -> None:
    """Write scores that stay finite; what the mask forbids stays forbidden."""
    is_forbidden = scores[places] == -torch.inf
    scores[places] = changed.clamp(-_HIGHEST, _HIGHEST).masked_fill(is_forbidden, -torch.inf)
