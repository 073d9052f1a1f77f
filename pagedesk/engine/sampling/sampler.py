"""Chooses the next token of every row of a batch. Engine thread; stateless.

The field's order: top-k, top-p, min-p, and temperature last, so that the filters see the model's own probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from pagedesk.engine.batch import SampleSpec
from pagedesk.engine.memory.workspace import SAMPLED_ROWS_AT_A_TIME
from pagedesk.engine.sampling.filters import keep_min_p, keep_top_k, keep_top_p, relative_weights
from pagedesk.engine.sampling.ranking import rank_tokens
from pagedesk.engine.sampling.uniform import uniform


def sample(logits: torch.Tensor, specs: Sequence[SampleSpec]) -> list[int | None]:
    """A token for each row; None for a row that holds NaN or Inf.

    Args:
        logits: float32 [num_rows, vocab_size].
        specs: One for each row.
    """
    finite = logits.isfinite().all(1).tolist()
    rows = [index for index in range(len(specs)) if finite[index]]
    greedy = [index for index in rows if _is_greedy(specs[index])]
    drawn = [index for index in rows if not _is_greedy(specs[index])]
    chosen: list[int | None] = [None] * len(specs)
    for index, token in zip(greedy, _greedy_tokens(logits, greedy), strict=True):
        chosen[index] = token
    for group in _groups(drawn, specs, logits.shape[1]):
        tokens = _draw(logits[group], [specs[index] for index in group])
        for index, token in zip(group, tokens, strict=True):
            chosen[index] = token
    return chosen


def _is_greedy(spec: SampleSpec) -> bool:
    return spec.params.temperature == 0 or spec.params.top_k == 1


def _greedy_tokens(logits: torch.Tensor, rows: list[int]) -> list[int]:
    if not rows:
        return []
    tokens: list[int] = logits[rows].argmax(1).tolist()
    return tokens


def _groups(rows: list[int], specs: Sequence[SampleSpec], vocab_size: int) -> list[list[int]]:
    """Rows that need a few ranks, and those that rank the whole vocabulary; some at a time, for the memory."""
    few = [index for index in rows if _num_ranks(specs[index], vocab_size) < vocab_size]
    full = [index for index in rows if _num_ranks(specs[index], vocab_size) == vocab_size]
    return [group for kind in (few, full) for group in _batched(kind)]


def _batched(rows: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(rows), SAMPLED_ROWS_AT_A_TIME):
        yield rows[start : start + SAMPLED_ROWS_AT_A_TIME]


def _num_ranks(spec: SampleSpec, vocab_size: int) -> int:
    """How many of the best tokens top-k leaves."""
    return min(spec.params.top_k or vocab_size, vocab_size)


def _draw(logits: torch.Tensor, specs: list[SampleSpec]) -> list[int]:
    vocab_size = logits.shape[1]
    num_ranks = [_num_ranks(spec, vocab_size) for spec in specs]
    scores, token_ids = rank_tokens(logits, max(num_ranks))
    params = [spec.params for spec in specs]
    kept = keep_top_k(scores, _column(num_ranks, logits.device, torch.int64))
    kept = keep_top_p(scores, kept, _column([item.top_p for item in params], logits.device))
    kept &= keep_min_p(scores, _column([item.min_p for item in params], logits.device))
    temperatures = _column([item.temperature for item in params], logits.device)
    draws = _column([uniform(spec.seed, spec.draw_index) for spec in specs], logits.device)
    # Best first is 0: a quotient of the scores themselves may be infinite at the smallest temperatures.
    heated = (scores.to(torch.float64) - scores[:, :1]) / temperatures
    ranks = _ranks_drawn(heated, kept, draws)
    tokens: list[int] = token_ids.gather(1, ranks).squeeze(1).tolist()
    return tokens


def _ranks_drawn(scores: torch.Tensor, kept: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """Where each draw in [0, 1) falls among the cumulated probabilities: int64 [num_rows, 1], always a kept rank."""
    cumulated = relative_weights(scores, kept).cumsum(1)
    ranks = torch.searchsorted(cumulated, draws * cumulated[:, -1:], right=True)
    last_kept = kept.to(torch.int64).cumsum(1).argmax(1, keepdim=True)
    return torch.minimum(ranks, last_kept)


def _column(values: Sequence[float], device: torch.device, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, device=device).unsqueeze(1)
