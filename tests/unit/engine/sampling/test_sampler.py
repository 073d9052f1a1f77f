"""The sampler as a whole: the order of the filters, reproducible draws, faulty rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import accumulate

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.profiler import ProfilerActivity, profile

from pagedesk.engine.batch import Repetition, SampleSpec
from pagedesk.engine.memory.workspace import SAMPLED_ROWS_AT_A_TIME, SAMPLER_BYTES_PER_SCORE
from pagedesk.engine.sampling import sampler
from pagedesk.engine.sampling.ranking import rank_tokens
from pagedesk.engine.sampling.sampler import sample
from pagedesk.protocol import SamplingParams
from tests.helpers.plain_sampler import plain_choice

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


def random_rows(seed: int, num_rows: int, vocab_size: int = 500) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(num_rows, vocab_size).mul_(3).to(torch.bfloat16).to(torch.float32)


def said(params: SamplingParams, index: int) -> SampleSpec:
    """A row of a sequence that has said a few tokens, others in each row."""
    counts = tuple((token, 1 + token % 4) for token in range(index, 500, 7))
    runs = tuple((token, params.dry_allowed_length + token % 5) for token in range(index, 500, 11))
    return SampleSpec(params, 9 + index, index, Repetition(counts, runs if params.dry_multiplier else ()))


any_params = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0.0, 0.01, 0.7, 1.0, 2.5]),
    top_k=st.sampled_from([0, 1, 2, 40, 600]),
    top_p=st.sampled_from([1.0, 0.95, 0.43]),
    min_p=st.sampled_from([0.0, 0.051, 0.37]),
    top_n_sigma=st.sampled_from([0.0, 0.0, 1.01, 3.03]),
    typical_p=st.sampled_from([1.0, 1.0, 0.87, 0.21]),
    xtc_probability=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
    xtc_threshold=st.sampled_from([0.011, 0.13]),
    repetition_penalty=st.sampled_from([1.0, 1.0, 1.17]),
    presence_penalty=st.sampled_from([0.0, 0.31]),
    frequency_penalty=st.sampled_from([0.0, 0.27]),
    dry_multiplier=st.sampled_from([0.0, 0.83]),
    logit_bias=st.sampled_from([(), ((0, 3.3), (77, -100.0), (499, 100.0))]),
)


def peak_bytes(work: Callable[[], object]) -> int:
    """How much torch held at once while it did this."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        work()
    sizes = [event.nbytes() for event in recorded.profiler.kineto_results.events() if event.name() == "[memory]"]  # type: ignore[union-attr]
    return max(accumulate(sizes), default=0)


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
        SamplingParams(top_n_sigma=1.5, top_k=0, top_p=1, min_p=0),
        SamplingParams(top_n_sigma=1.0, typical_p=0.7, temperature=1.5),
        SamplingParams(typical_p=0.3, top_k=0, top_p=0.9, min_p=0.05),
        SamplingParams(typical_p=0.2, temperature=0),
        SamplingParams(xtc_probability=1, xtc_threshold=0.02, temperature=0),
        SamplingParams(xtc_probability=0.5, xtc_threshold=0.05, top_k=0, top_p=1, min_p=0),
        SamplingParams(xtc_probability=1, xtc_threshold=0.01, typical_p=0.8, temperature=1e-3),
        SamplingParams(repetition_penalty=1.3, presence_penalty=0.5, frequency_penalty=0.2),
        SamplingParams(repetition_penalty=2, temperature=0),
        SamplingParams(dry_multiplier=0.8, dry_base=1.5, top_k=0, typical_p=0.9),
        SamplingParams(logit_bias=((3, 20.0), (4, 19.5), (499, -100.0)), top_k=5),
    ],
)
def test_a_choice_equals_that_of_the_plain_chain(params: SamplingParams) -> None:
    rows, specs = random_rows(1, 30), [said(params, index) for index in range(30)]
    assert sample(rows, specs) == [plain_choice(row, one) for row, one in zip(rows.tolist(), specs, strict=True)]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), kinds=st.lists(any_params, min_size=1, max_size=12), is_masked=st.booleans())
def test_any_mixed_batch_chooses_as_the_plain_chain_does_row_by_row(
    seed: int, kinds: list[SamplingParams], is_masked: bool
) -> None:
    rows, specs = random_rows(seed, len(kinds)), [said(kind, index) for index, kind in enumerate(kinds)]
    allowed = torch.rand(rows.shape) < 0.1 if is_masked else None
    masks = [None] * len(specs) if allowed is None else allowed.tolist()
    expected = [plain_choice(row, one, mask) for row, one, mask in zip(rows.tolist(), specs, masks, strict=True)]
    assert sample(rows, specs, allowed) == expected


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), kinds=st.lists(any_params, min_size=2, max_size=20))
def test_a_row_gives_the_same_token_whatever_the_others_ask_for(seed: int, kinds: list[SamplingParams]) -> None:
    rows, specs = random_rows(seed, len(kinds)), [said(kind, index) for index, kind in enumerate(kinds)]
    alone = [sample(rows[index : index + 1], specs[index : index + 1])[0] for index in range(len(kinds))]
    assert sample(rows, specs) == alone


def test_the_logits_are_left_as_they_are() -> None:
    rows = random_rows(4, 3)
    before = rows.clone()
    sample(
        rows,
        [said(SamplingParams(repetition_penalty=2, temperature=t, top_k=k), 0) for t, k in [(0, 0), (1, 9), (1, 0)]],
    )
    assert torch.equal(rows, before)


def test_what_the_mask_forbids_is_never_chosen() -> None:
    rows, allowed = logits([9, 1, 2, 3], [9, 1, 2, 3]), torch.tensor([[False, True, False, True]] * 2)
    assert sample(rows, [spec(GREEDY), spec(GREEDY)], allowed) == [3, 3]
    drawn = sample(
        rows[:1].expand(200, -1), [spec(FREE, draw_index=i) for i in range(200)], allowed[:1].expand(200, -1)
    )
    assert set(drawn) == {1, 3}


def test_a_row_whose_mask_forbids_everything_gets_no_token_and_harms_no_other() -> None:
    allowed = torch.tensor([[False, False], [True, False]])
    assert sample(logits([0, 1], [0, 1]), [spec(GREEDY), spec(FREE)], allowed) == [None, 0]


def test_a_bias_of_100_forces_and_one_of_minus_100_forbids() -> None:
    rows = logits([5, 1, 4], [5, 1, 4])
    biases = [((1, 100.0),), ((0, -100.0),)]
    assert sample(rows, [spec(SamplingParams(temperature=0, logit_bias=bias)) for bias in biases]) == [1, 2]


def test_xtc_drops_the_best_choice_as_often_as_asked() -> None:
    shares = drawn_share(
        [math.log(6), math.log(3), 0.0], SamplingParams(temperature=0, xtc_probability=0.3, xtc_threshold=0.2)
    )
    assert shares == pytest.approx({0: 0.7, 1: 0.3}, abs=0.03)


def test_xtc_strikes_independently_of_the_draw_after_it() -> None:
    """A draw that shared its number with the luck of XTC would take the same token each time that XTC strikes."""
    params = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0, xtc_probability=0.2, xtc_threshold=0.3)
    shares = drawn_share([math.log(4), math.log(3), math.log(2), 0.0], params, num_draws=8000)
    assert shares == pytest.approx(
        {0: 0.32, 1: 0.8 * 0.3 + 0.2 * 0.5, 2: 0.8 * 0.2 + 0.2 / 3, 3: 0.08 + 0.2 / 6}, abs=0.03
    )


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


@pytest.mark.parametrize(
    "params",
    [GREEDY, FREE, SamplingParams(), SamplingParams(top_k=0, typical_p=0.9, top_n_sigma=2, xtc_probability=1)],
    ids=["greedy", "free", "a few ranks", "every filter"],
)
def test_the_workspace_has_room_for_what_sampling_takes(params: SamplingParams) -> None:
    rows, specs = torch.randn(20, 5000), [said(params, index) for index in range(20)]
    allowed = torch.ones(rows.shape, dtype=torch.bool)
    taken = peak_bytes(lambda: sample(rows, specs, allowed))
    assert taken <= SAMPLED_ROWS_AT_A_TIME * rows.shape[1] * SAMPLER_BYTES_PER_SCORE


def test_a_row_of_equal_scores_is_filtered_without_harm() -> None:
    assert sample(torch.zeros(1, 50), [spec(SamplingParams(top_k=0, top_p=0.0, min_p=1.0))]) == [0]
