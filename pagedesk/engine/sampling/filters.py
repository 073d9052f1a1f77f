"""The filters between scores and a draw, each over a batch whose scores are ranked. Engine thread.

Every function takes scores float32 [num_rows, num_ranks], best first, `kept` of the same shape (what the filters before
it left, at least one token a row) and a parameter a row [num_rows, 1], and gives the truth [num_rows, num_ranks]: which
of them stay, at least one. Sums run from rank to rank and end in zeros, so that a row gives the same result however
many ranks its neighbours need.
"""

from __future__ import annotations

import torch


def deviations(scores: torch.Tensor) -> torch.Tensor:
    """Standard deviation of the finite scores of each row, in any order: float64 [num_rows, 1].

    A row at a time: how a sum over several rows is split depends on their number.
    """
    each = [row[row > -torch.inf].to(torch.float64).std(correction=0) for row in scores]
    return torch.stack(each).unsqueeze(1)


def keep_top_n_sigma(scores: torch.Tensor, sigmas: torch.Tensor, top_n_sigma: torch.Tensor) -> torch.Tensor:
    """Those at most n deviations of all scores below the best (Tang et al., arXiv 2411.07641); 0 keeps all."""
    return (scores >= scores[:, :1] - top_n_sigma * sigmas) | (top_n_sigma <= 0)


def keep_top_k(scores: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """The k best; 0 keeps all."""
    ranks = torch.arange(scores.shape[1], device=scores.device)
    return (ranks < top_k) | (top_k <= 0)


def keep_typical(scores: torch.Tensor, kept: torch.Tensor, typical_p: torch.Tensor) -> torch.Tensor:
    """The smallest set with this much probability, nearest to the expected surprise first; 1 keeps all.

    Meister et al., arXiv 2202.00666. The best token may go.
    """
    order, near_first = _typical_first(scores, kept)
    stay = torch.zeros_like(kept).scatter_(1, order, _reach(near_first, typical_p))
    return kept & (stay | (typical_p >= 1))


def _typical_first(scores: torch.Tensor, kept: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Ranks by how near they are to the expected surprise, and their weights; the sort needs its room alone."""
    weights = relative_weights(scores, kept)
    total = _total(weights)
    surprises = total.log() - (scores.to(torch.float64) - scores[:, :1])
    expected = _total((weights * surprises).masked_fill_(~kept, 0)) / total
    distances = surprises.sub_(expected).abs_().masked_fill_(~kept, torch.inf)
    order = distances.sort(dim=1, stable=True).indices
    return order, weights.gather(1, order)


def keep_top_p(scores: torch.Tensor, kept: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """The smallest set with this much of the probability of what `kept` left (Holtzman et al., arXiv 1904.09751)."""
    weights = relative_weights(scores, kept)
    return kept & (_reach(weights, top_p) | (top_p >= 1))


def keep_min_p(scores: torch.Tensor, kept: torch.Tensor, min_p: torch.Tensor) -> torch.Tensor:
    """Those at least `min_p` times as likely as the best kept (Nguyen et al., arXiv 2407.01082); 0 keeps all."""
    return kept & (scores >= best_kept(scores, kept) + min_p.log())


def keep_xtc(scores: torch.Tensor, kept: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    """Without the choices of at least this probability, but for the least likely of them (p-e-w 2024)."""
    weights = relative_weights(scores, kept)
    choices = kept & (weights >= threshold * _total(weights))
    ordinals = choices.to(torch.int64).cumsum(1)
    return kept & ~(choices & (ordinals < ordinals[:, -1:]))


def best_kept(scores: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The best score that is kept: [num_rows, 1]."""
    return scores.masked_fill(~kept, -torch.inf).amax(1, keepdim=True)


def relative_weights(scores: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Probabilities over what is kept, up to a factor, float64: exp(score - best), 0 for the others."""
    return (scores - scores[:, :1]).to(torch.float64).exp_().mul_(kept)


def _total(weights: torch.Tensor) -> torch.Tensor:
    return weights.cumsum(1)[:, -1:]


def _reach(weights: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """The first weights, in order, until they are this share of all; the first that is not 0 always."""
    cumulated = weights.cumsum(1)
    before = cumulated - weights
    return (before < share * cumulated[:, -1:]) | (before <= 0)
