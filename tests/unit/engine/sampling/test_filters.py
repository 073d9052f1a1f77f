"""Each filter against the plainest loop over sorted tokens."""

from __future__ import annotations

import math

import pytest
import torch

from pagedesk.engine.sampling.filters import keep_min_p, keep_top_k, keep_top_p, relative_weights


@pytest.fixture
def scores() -> torch.Tensor:
    """Ranked scores of four rows, one flat, one peaked."""
    torch.manual_seed(3)
    rows = torch.stack((torch.randn(40), torch.randn(40) * 4, torch.zeros(40), torch.randn(40) * 0.1))
    rows[3, 0] = 9
    return rows.sort(dim=1, descending=True).values


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(1)


def probabilities(row: torch.Tensor) -> list[float]:
    weights = [math.exp(score - float(row[0])) for score in row.tolist()]
    return [weight / sum(weights) for weight in weights]


def plain_top_p(row: torch.Tensor, num_candidates: int, top_p: float) -> list[bool]:
    kept, total = [False] * len(row), 0.0
    for rank, probability in enumerate(probabilities(row[:num_candidates])):
        if rank and total >= top_p:
            break
        kept[rank] = True
        total += probability
    return kept


def test_top_k_keeps_the_k_best(scores: torch.Tensor) -> None:
    kept = keep_top_k(scores, torch.tensor([[1], [5], [40], [0]]))
    assert kept.sum(1).tolist() == [1, 5, 40, 40]
    assert bool(kept[1, :5].all())


@pytest.mark.parametrize("top_p", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_top_p_keeps_the_smallest_set_that_reaches_it(scores: torch.Tensor, top_p: float) -> None:
    everything = torch.ones_like(scores, dtype=torch.bool)
    kept = keep_top_p(scores, everything, column(*[top_p] * 4))
    assert kept.tolist() == [plain_top_p(row, 40, top_p) for row in scores]


def test_top_p_counts_the_probability_of_what_top_k_left(scores: torch.Tensor) -> None:
    few = keep_top_k(scores, torch.tensor([[10]] * 4))
    kept = keep_top_p(scores, few, column(0.6, 0.6, 0.6, 0.6))
    assert kept.tolist() == [plain_top_p(row, 10, 0.6) for row in scores]


def test_a_top_p_of_one_keeps_everything(scores: torch.Tensor) -> None:
    everything = torch.ones_like(scores, dtype=torch.bool)
    assert bool(keep_top_p(scores, everything, column(1, 1, 1, 1)).all())


@pytest.mark.parametrize("min_p", [0.01, 0.3, 0.9, 1.0])
def test_min_p_keeps_what_is_that_share_of_the_best(scores: torch.Tensor, min_p: float) -> None:
    expected = [[chance >= min_p * max(probabilities(row)) for chance in probabilities(row)] for row in scores]
    assert keep_min_p(scores, column(*[min_p] * 4)).tolist() == expected


def test_a_min_p_of_zero_keeps_everything(scores: torch.Tensor) -> None:
    assert bool(keep_min_p(scores, column(0, 0, 0, 0)).all())


def test_weights_are_probabilities_up_to_a_factor(scores: torch.Tensor) -> None:
    weights = relative_weights(scores, torch.ones_like(scores, dtype=torch.bool))
    shares = weights / weights.sum(1, keepdim=True)
    assert shares[0].tolist() == pytest.approx(probabilities(scores[0]))
