"""Each filter against the plainest loop over sorted tokens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pagedesk.engine.sampling import filters
from tests.helpers import plain_sampler as plain
from tests.helpers.plain_sampler import Candidates, probabilities


@pytest.fixture
def scores() -> torch.Tensor:
    return ranked_scores(3)


def ranked_scores(seed: int, num_ranks: int = 40) -> torch.Tensor:
    """Ranked scores of five rows: usual, steep, flat, one peak, many ties."""
    torch.manual_seed(seed)
    noise = torch.randn(5, num_ranks)
    rows = noise * torch.tensor([1, 4, 0, 0.1, 2]).unsqueeze(1)
    rows[3, 0] = 9
    rows[4] = rows[4].round()
    return rows.sort(dim=1, descending=True).values


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(1)


def same(value: float, scores: torch.Tensor) -> torch.Tensor:
    return column(*[value] * len(scores))


def everything(scores: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(scores, dtype=torch.bool)


def some(scores: torch.Tensor) -> torch.Tensor:
    """What earlier filters may leave: holes, the best gone in every other row."""
    ranks = torch.arange(scores.shape[1])
    kept = ((ranks % 7 != 3) & (ranks < 30)).repeat(len(scores), 1)
    kept[1::2, 0] = False
    return kept


def plainly(keep: Callable[[Candidates], Candidates], scores: torch.Tensor, kept: torch.Tensor) -> list[list[bool]]:
    """What a plain filter keeps of what is left."""
    rows = []
    for row, is_kept in zip(scores.tolist(), kept.tolist(), strict=True):
        stayed = {rank for rank, _ in keep([(rank, row[rank]) for rank in range(len(row)) if is_kept[rank]])}
        rows.append([rank in stayed for rank in range(len(row))])
    return rows


def test_top_k_keeps_the_k_best(scores: torch.Tensor) -> None:
    kept = filters.keep_top_k(scores, torch.tensor([[1], [5], [40], [0], [99]]))
    assert kept.sum(1).tolist() == [1, 5, 40, 40, 40]
    assert bool(kept[1, :5].all())


@pytest.mark.parametrize("left", [everything, some])
@pytest.mark.parametrize("top_p", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_top_p_keeps_the_smallest_set_that_reaches_it(
    scores: torch.Tensor, top_p: float, left: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    kept = filters.keep_top_p(scores, left(scores), same(top_p, scores))
    assert kept.tolist() == plainly(lambda row: plain.top_p(row, top_p), scores, left(scores))


@pytest.mark.parametrize("left", [everything, some])
@pytest.mark.parametrize("min_p", [0.01, 0.3, 0.9, 1.0])
def test_min_p_keeps_what_is_that_share_of_the_best_left(
    scores: torch.Tensor, min_p: float, left: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    kept = filters.keep_min_p(scores, left(scores), same(min_p, scores))
    assert kept.tolist() == plainly(lambda row: plain.min_p(row, min_p), scores, left(scores))


@pytest.mark.parametrize("left", [everything, some])
@pytest.mark.parametrize("typical_p", [0.01, 0.2, 0.5, 0.9, 0.999])
def test_typical_keeps_what_is_nearest_to_the_expected_surprise(
    scores: torch.Tensor, typical_p: float, left: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    kept = filters.keep_typical(scores, left(scores), same(typical_p, scores))
    uneven = [0, 1, 3, 4]  # in the flat row all are as near, up to rounding
    expected = plainly(lambda row: plain.typical(row, typical_p), scores, left(scores))
    assert [kept.tolist()[row] for row in uneven] == [expected[row] for row in uneven]


def test_typical_may_drop_the_best() -> None:
    scores = torch.tensor([[2.0, *[0.0] * 20]])
    assert not filters.keep_typical(scores, everything(scores), column(0.2))[0, 0]


@pytest.mark.parametrize("limit", [0.3, 1.0, 2.0, 5.0])
def test_top_n_sigma_keeps_what_is_few_deviations_below_the_best(scores: torch.Tensor, limit: float) -> None:
    kept = filters.keep_top_n_sigma(scores, filters.deviations(scores), same(limit, scores))
    assert kept.tolist() == plainly(lambda row: plain.top_n_sigma(row, limit), scores, everything(scores))


def test_scores_that_a_mask_forbids_do_not_count_as_deviation(scores: torch.Tensor) -> None:
    masked = torch.cat((scores, torch.full((len(scores), 9), -torch.inf)), dim=1)
    assert torch.equal(filters.deviations(masked), filters.deviations(scores))


@pytest.mark.parametrize("left", [everything, some])
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.1, 0.3, 0.5, 1.0])
def test_xtc_drops_all_choices_but_the_least_likely(
    scores: torch.Tensor, threshold: float, left: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    kept = filters.keep_xtc(scores, left(scores), same(threshold, scores))
    assert kept.tolist() == plainly(lambda row: plain.xtc(row, threshold), scores, left(scores))


@pytest.mark.parametrize(
    ("keep", "off"),
    [(filters.keep_top_p, 1), (filters.keep_min_p, 0), (filters.keep_typical, 1)],
    ids=["top-p", "min-p", "typical"],
)
def test_a_filter_that_is_switched_off_keeps_what_is_left(
    scores: torch.Tensor, keep: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor], off: float
) -> None:
    assert torch.equal(keep(scores, some(scores), same(off, scores)), some(scores))


def test_a_top_n_sigma_of_zero_keeps_everything(scores: torch.Tensor) -> None:
    assert bool(filters.keep_top_n_sigma(scores, filters.deviations(scores), same(0, scores)).all())


def test_weights_are_probabilities_up_to_a_factor(scores: torch.Tensor) -> None:
    weights = filters.relative_weights(scores, everything(scores))
    shares = weights / weights.sum(1, keepdim=True)
    assert shares[0].tolist() == pytest.approx(probabilities(list(enumerate(scores[0].tolist()))))


KEEPERS = [filters.keep_top_p, filters.keep_typical, filters.keep_xtc, filters.keep_min_p]


@settings(deadline=None)
@given(seed=st.integers(0, 999), value=st.floats(0.001, 1), left=st.sampled_from([everything, some]))
@pytest.mark.parametrize("keep", KEEPERS)
def test_a_filter_leaves_at_least_one_token_and_brings_none_back(
    keep: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor],
    seed: int,
    value: float,
    left: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    scores = ranked_scores(seed) * 50
    kept = keep(scores, left(scores), same(value, scores))
    assert bool(kept.any(1).all())
    assert not bool((kept & ~left(scores)).any())


@settings(deadline=None)
@given(seed=st.integers(0, 999), value=st.floats(0.001, 1))
@pytest.mark.parametrize("keep", KEEPERS)
def test_ranks_that_only_a_neighbour_needs_change_nothing(
    keep: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor], seed: int, value: float
) -> None:
    scores = ranked_scores(seed)
    narrow = keep(scores[:, :30].contiguous(), some(scores)[:, :30], same(value, scores))
    assert torch.equal(keep(scores, some(scores), same(value, scores))[:, :30], narrow)


def test_scores_as_far_apart_as_floats_go_are_filtered_without_harm() -> None:
    scores = torch.tensor([[3e38, 0.0, -3e38]])
    assert [keep(scores, everything(scores), column(0.5)).tolist() for keep in KEEPERS] == [
        [[True, False, False]]
    ] * 2 + [
        [[True, True, True]],
        [[True, False, False]],
    ]
