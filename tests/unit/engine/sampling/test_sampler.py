"""The sampler as a whole: the order of the filters, reproducible draws, faulty rows."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from pagedesk.engine.batch import SampleSpec
from pagedesk.engine.memory.workspace import SAMPLED_ROWS_AT_A_TIME
from pagedesk.engine.sampling import sampler
from pagedesk.engine.sampling.ranking import rank_tokens
from pagedesk.engine.sampling.sampler import sample
from pagedesk.engine.sampling.uniform import uniform
from pagedesk.protocol import SamplingParams

GREEDY = SamplingParams(temperature=0)
FREE = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)


def logits(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def spec(params: SamplingParams, seed: int = 0, draw_index: int = 0) -> SampleSpec:
    return SampleSpec(params, seed, draw_index)


def drawn_share(row: list[float], params: SamplingParams, num_draws: int = 4000) -> dict[int, float]:
    rows = logits(row).expand(num_draws, -1)
    counts = Counter(sample(rows, [spec(params, draw_index=index) for index in range(num_draws)]))
    return {int(token): count / num_draws for token, count in counts.items() if token is not None}


def plain_choice(row: list[float], spec: SampleSpec) -> int:
    """The field's chain, one token at a time: top-k, top-p, min-p, temperature, then the draw."""
    params = spec.params
    ranked = sorted(range(len(row)), key=lambda token: (-row[token], token))
    ranked = ranked[: params.top_k or None]
    weights = [math.exp(row[token] - row[ranked[0]]) for token in ranked]
    nucleus, total = [], 0.0
    for token, weight in zip(ranked, weights, strict=True):
        if nucleus and total >= params.top_p * sum(weights):
            break
        nucleus.append(token)
        total += weight
    likely = [token for token in nucleus if math.exp(row[token] - row[ranked[0]]) >= params.min_p]
    heated = [math.exp((row[token] - row[ranked[0]]) / params.temperature) for token in likely]
    target = uniform(spec.seed, spec.draw_index) * sum(heated)
    for token, weight in zip(likely, heated, strict=True):
        target -= weight
        if target < 0:
            return token
    return likely[-1]


def test_temperature_zero_takes_the_best() -> None:
    assert sample(logits([0, 3, 1], [5, 3, 1]), [spec(GREEDY)] * 2) == [1, 0]


def test_the_best_of_a_tie_is_the_first() -> None:
    assert sample(logits([1, 3, 3]), [spec(GREEDY)]) == [1]


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    shares = drawn_share([0.0, math.log(3), -1e9], FREE)
    assert shares == pytest.approx({0: 0.25, 1: 0.75}, abs=0.03)


def test_heat_flattens_the_probabilities() -> None:
    shares = drawn_share([0.0, math.log(9)], SamplingParams(temperature=2, top_k=0, top_p=1, min_p=0))
    assert shares == pytest.approx({0: 0.25, 1: 0.75}, abs=0.03)


def test_temperature_comes_after_the_filters() -> None:
    """Cold first, the second token would have a share of 1/101 and top-p would drop it."""
    params = SamplingParams(temperature=0.5, top_k=0, top_p=0.95, min_p=0)
    assert set(drawn_share([0.0, -math.log(10)], params)) == {0, 1}


@pytest.mark.parametrize(
    "params",
    [
        FREE,
        SamplingParams(),
        SamplingParams(temperature=1.3, top_k=7, top_p=0.8, min_p=0),
        SamplingParams(temperature=0.9, top_k=0, top_p=0.6, min_p=0.1),
        SamplingParams(temperature=2.0, top_k=3000, top_p=1, min_p=0.02),
        SamplingParams(temperature=0.01, top_k=0, top_p=1, min_p=0),
    ],
)
def test_a_choice_equals_that_of_the_plain_chain(params: SamplingParams) -> None:
    torch.manual_seed(1)
    rows = torch.randn(30, 500).mul_(3).to(torch.bfloat16).to(torch.float32)
    specs = [spec(params, seed=9, draw_index=index) for index in range(30)]
    assert sample(rows, specs) == [plain_choice(row, one) for row, one in zip(rows.tolist(), specs, strict=True)]


def test_a_row_gives_the_same_token_alone_and_among_others() -> None:
    torch.manual_seed(2)
    rows = torch.randn(24, 300).to(torch.bfloat16).to(torch.float32)
    kinds = [FREE, SamplingParams(), GREEDY, SamplingParams(top_k=5, temperature=1.5)]
    specs = [spec(kinds[index % 4], seed=index, draw_index=index) for index in range(24)]
    alone = [sample(rows[index : index + 1], specs[index : index + 1])[0] for index in range(24)]
    assert sample(rows, specs) == alone


def test_another_seed_gives_another_text() -> None:
    rows = torch.zeros(64, 1000)
    first = sample(rows, [spec(FREE, seed=1, draw_index=index) for index in range(64)])
    second = sample(rows, [spec(FREE, seed=2, draw_index=index) for index in range(64)])
    assert sum(one == other for one, other in zip(first, second, strict=True)) < 5


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_row_that_is_not_finite_gets_no_token_and_harms_no_other(bad: float) -> None:
    rows = logits([0, 3, 1], [0, bad, 1], [0, 1, 3])
    assert sample(rows, [spec(GREEDY), spec(FREE), spec(GREEDY)]) == [1, None, 2]


def test_a_top_k_beyond_the_vocabulary_keeps_all() -> None:
    assert set(drawn_share([0.0, 0.0, 0.0], SamplingParams(temperature=1, top_k=99, top_p=1, min_p=0))) == {0, 1, 2}


def test_a_top_k_of_any_size_harms_no_other_row() -> None:
    assert sample(logits([0, 9], [0, 9]), [spec(SamplingParams(top_k=1 << 80, min_p=0.5)), spec(GREEDY)]) == [1, 1]


@pytest.mark.parametrize("temperature", [1e-300, 1e-310, 5e-324])
def test_the_smallest_temperatures_take_the_best(temperature: float) -> None:
    params = SamplingParams(temperature=temperature, top_k=0, top_p=1, min_p=0)
    assert sample(logits([1, 9, 3, 2]), [spec(params)]) == [1]


@pytest.mark.parametrize("top_k", [0, 40], ids=["the whole vocabulary", "a few ranks"])
def test_no_more_rows_are_ranked_at_a_time_than_the_workspace_has_room_for(
    monkeypatch: pytest.MonkeyPatch, top_k: int
) -> None:
    ranked: list[int] = []

    def noting_rank(scores: torch.Tensor, num_ranks: int) -> tuple[torch.Tensor, torch.Tensor]:
        ranked.append(len(scores))
        return rank_tokens(scores, num_ranks)

    monkeypatch.setattr(sampler, "rank_tokens", noting_rank)
    sample(torch.zeros(20, 100), [spec(SamplingParams(top_k=top_k))] * 20)
    assert (sum(ranked), max(ranked)) == (20, SAMPLED_ROWS_AT_A_TIME)


def test_a_row_of_equal_scores_is_filtered_without_harm() -> None:
    assert sample(torch.zeros(1, 50), [spec(SamplingParams(top_k=0, top_p=0.0, min_p=1.0))]) == [0]
