"""Chooses the next token of every row of a batch. Engine thread; stateless.

The field's order: mask, logit bias, penalties, DRY, top-n-sigma, top-k, typical, top-p, min-p, XTC, and temperature
last, so that the filters see the model's own probabilities. A row gives the same token alone and in any batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from pagedesk.engine.batch import SampleSpec
from pagedesk.engine.memory.workspace import SAMPLED_ROWS_AT_A_TIME
from pagedesk.engine.sampling.adjust import adjust
from pagedesk.engine.sampling.filters import (
    best_kept,
    deviations,
    keep_min_p,
    keep_top_k,
    keep_top_n_sigma,
    keep_top_p,
    keep_typical,
    keep_xtc,
)
from pagedesk.engine.sampling.ranking import rank_tokens
from pagedesk.engine.sampling.uniform import uniform
from pagedesk.protocol import SamplingParams

_XTC_STREAM = 1


def sample(logits: torch.Tensor, specs: Sequence[SampleSpec], allowed: torch.Tensor | None = None) -> list[int | None]:
    """A token for each row; None for a row that holds NaN or Inf, or may choose nothing.

    Args:
        logits: float32 [num_rows, vocab_size].
        specs: One for each row.
        allowed: bool [num_rows, vocab_size], the tokens that a grammar allows; None: all.
    """
    chosen: list[int | None] = [None] * len(specs)
    for group, choose in _groups(_usable_rows(logits, allowed), specs, logits.shape[1]):
        group_specs = [specs[index] for index in group]
        scores = logits[group]
        adjust(scores, group_specs, None if allowed is None else allowed[group])
        for index, token in zip(group, choose(scores, group_specs), strict=True):
            chosen[index] = token
    return chosen


def _usable_rows(logits: torch.Tensor, allowed: torch.Tensor | None) -> list[int]:
    usable = torch.cat([rows.isfinite().all(1) for rows in torch.split(logits, SAMPLED_ROWS_AT_A_TIME)])
    if allowed is not None:
        usable &= allowed.any(1)
    return [index for index, is_usable in enumerate(usable.tolist()) if is_usable]


_Choose = Callable[[torch.Tensor, list[SampleSpec]], list[int]]


def _groups(rows: list[int], specs: Sequence[SampleSpec], vocab_size: int) -> Iterator[tuple[list[int], _Choose]]:
    """Rows that need the best token, a few ranks, or the whole vocabulary ranked; some at a time, for the memory."""
    greedy = [index for index in rows if _is_greedy(specs[index].params)]
    drawn = [index for index in rows if not _is_greedy(specs[index].params)]
    few = [index for index in drawn if _num_ranks(specs[index].params, vocab_size) < vocab_size]
    full = [index for index in drawn if _num_ranks(specs[index].params, vocab_size) == vocab_size]
    for kind, choose in ((greedy, _best), (few, _draw), (full, _draw)):
        for start in range(0, len(kind), SAMPLED_ROWS_AT_A_TIME):
            yield kind[start : start + SAMPLED_ROWS_AT_A_TIME], choose


def _is_greedy(params: SamplingParams) -> bool:
    """Whether the best token is the one: typical and XTC may drop it, unless it is the only one left."""
    return params.top_k == 1 or (params.temperature == 0 and params.typical_p >= 1 and params.xtc_probability == 0)


def _num_ranks(params: SamplingParams, vocab_size: int) -> int:
    """How many of the best tokens top-k leaves."""
    return min(params.top_k or vocab_size, vocab_size)


def _best(scores: torch.Tensor, _specs: list[SampleSpec]) -> list[int]:
    tokens: list[int] = scores.argmax(1).tolist()
    return tokens


def _draw(scores: torch.Tensor, specs: list[SampleSpec]) -> list[int]:
    num_ranks = [_num_ranks(spec.params, scores.shape[1]) for spec in specs]
    ranked, token_ids = rank_tokens(scores, max(num_ranks))
    kept = keep_top_k(ranked, _column(num_ranks, scores.device, torch.int64)) & (ranked > -torch.inf)
    if any(spec.params.top_n_sigma > 0 for spec in specs):
        limits = _column([spec.params.top_n_sigma for spec in specs], scores.device)
        kept &= keep_top_n_sigma(ranked, deviations(scores), limits)
    kept = _filter(ranked, kept, specs)
    tokens: list[int] = token_ids.gather(1, _ranks_drawn(ranked, kept, specs)).squeeze(1).tolist()
    return tokens


def _filter(ranked: torch.Tensor, kept: torch.Tensor, specs: list[SampleSpec]) -> torch.Tensor:
    """The filters after top-k; one that no row asks for costs nothing."""
    params, device = [spec.params for spec in specs], ranked.device
    if any(item.typical_p < 1 for item in params):
        kept = keep_typical(ranked, kept, _column([item.typical_p for item in params], device))
    if any(item.top_p < 1 for item in params):
        kept = keep_top_p(ranked, kept, _column([item.top_p for item in params], device))
    if any(item.min_p > 0 for item in params):
        kept = keep_min_p(ranked, kept, _column([item.min_p for item in params], device))
    if any(_has_luck(spec) for spec in specs):
        without = keep_xtc(ranked, kept, _column([item.xtc_threshold for item in params], device))
        lucky = _column([_has_luck(spec) for spec in specs], device, torch.bool)
        kept = torch.where(lucky, without, kept)
    return kept


def _has_luck(spec: SampleSpec) -> bool:
    """Whether XTC strikes at this draw."""
    chance = spec.params.xtc_probability
    return chance > 0 and uniform(spec.seed, spec.draw_index, _XTC_STREAM) < chance


def _ranks_drawn(ranked: torch.Tensor, kept: torch.Tensor, specs: list[SampleSpec]) -> torch.Tensor:
    """Where each draw in [0, 1) falls among the cumulated probabilities: int64 [num_rows, 1], always a kept rank.

    Without heat a draw of 0 takes the best that is kept.
    """
    temperatures = _column([spec.params.temperature or 1.0 for spec in specs], ranked.device)
    draws = [uniform(spec.seed, spec.draw_index) if spec.params.temperature else 0.0 for spec in specs]
    # The best is 0: a quotient of the scores themselves may be infinite at the smallest temperatures.
    heated = (ranked.to(torch.float64) - best_kept(ranked, kept)).div_(temperatures)
    cumulated = heated.masked_fill_(~kept, -torch.inf).exp_().cumsum(1)
    ranks = torch.searchsorted(cumulated, _column(draws, ranked.device) * cumulated[:, -1:], right=True)
    last_kept = kept.to(torch.int64).cumsum(1).argmax(1, keepdim=True)
    return torch.minimum(ranks, last_kept)


def _column(values: Sequence[float], device: torch.device, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, device=device).unsqueeze(1)
