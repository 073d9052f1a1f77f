"""Ranks tokens by score, equal scores by token id, so that the order never depends on who shares the batch."""

from __future__ import annotations

import torch

_LOW_BITS = (1 << 32) - 1


def rank_tokens(scores: torch.Tensor, num_ranks: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The best tokens of each row, best first.

    Bfloat16 logits tie often, and a plain top-k breaks ties by chance of the implementation. Here a score and a token
    id make one 64-bit number: the bits of a float, sign folded, order as the float does.

    Args:
        scores: Finite float32 [num_rows, vocab_size].
        num_ranks: How many; at most vocab_size.

    Returns:
        Scores float32 and token ids int64, both [num_rows, num_ranks].
    """
    bits = (scores + 0.0).view(torch.int32)
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    reversed_ids = torch.arange(scores.shape[1] - 1, -1, -1, device=scores.device)
    keys = (ordered.to(torch.int64) << 32) | reversed_ids
    if num_ranks < scores.shape[1]:
        best = keys.topk(num_ranks, dim=1).values
    else:
        best = keys.sort(dim=1, descending=True).values
    token_ids = scores.shape[1] - 1 - (best & _LOW_BITS)
    return scores.gather(1, token_ids), token_ids
