"""The filters between scores and a draw, each over a batch whose scores are ranked. Engine thread.

Every function takes scores float32 [num_rows, num_ranks], best first, one parameter a row [num_rows, 1], and gives
truth [num_rows, num_ranks]: which tokens stay. The best token always stays.
"""

from __future__ import annotations

import torch


def keep_top_k(scores: torch.Tensor, top_k: torch.Tensor) -> torch.Tensor:
    """The k best; 0 keeps all."""
    ranks = torch.arange(scores.shape[1], device=scores.device)
    return (ranks < top_k) | (top_k <= 0)


def keep_top_p(scores: torch.Tensor, kept: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """The smallest set with this much of the probability of what `kept` left (Holtzman et al., arXiv 1904.09751)."""
    weights = relative_weights(scores, kept)
    before = weights.cumsum(1) - weights
    total = weights.sum(1, keepdim=True)
    stay = (before < top_p * total) | (top_p >= 1)
    stay[:, 0] = True
    return kept & stay


def keep_min_p(scores: torch.Tensor, min_p: torch.Tensor) -> torch.Tensor:
    """Those at least `min_p` times as likely as the best (Nguyen et al., arXiv 2407.01082); 0 keeps all."""
    return scores >= scores[:, :1] + min_p.log()


def relative_weights(scores: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Probabilities over what is kept, up to a factor, float64: exp(score - best), 0 for the others."""
    return (scores - scores[:, :1]).to(torch.float64).exp_().mul_(kept)
