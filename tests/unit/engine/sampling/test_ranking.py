"""Tokens are ranked by score, and equal scores by token id."""

from __future__ import annotations

import pytest
import torch

from pagedesk.engine.sampling.ranking import rank_tokens

SCORES = torch.tensor([[0.5, -1.0, 0.5, 2.0, 0.0, -0.0], [-3.0, -3.0, -1.0, -2.0, -3.5, -3.0]])
RANKED = [[3, 0, 2, 4, 5, 1], [2, 3, 0, 1, 5, 4]]


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 6])
def test_the_order_is_the_same_however_many_are_ranked(num_ranks: int) -> None:
    scores, token_ids = rank_tokens(SCORES, num_ranks)
    assert token_ids.tolist() == [row[:num_ranks] for row in RANKED]
    assert torch.equal(scores, SCORES.gather(1, token_ids))


def test_many_ties_are_ranked_as_a_stable_sort_ranks_them() -> None:
    torch.manual_seed(0)
    scores = (torch.randn(4, 5000) * 4).to(torch.bfloat16).to(torch.float32)
    expected = scores.sort(dim=1, descending=True, stable=True).indices
    assert torch.equal(rank_tokens(scores, 5000)[1], expected)
    assert torch.equal(rank_tokens(scores, 40)[1], expected[:, :40])
