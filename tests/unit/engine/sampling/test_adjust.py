"""Masks, biases and penalties, against a loop over the tokens."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pagedesk.engine.batch import Repetition, SampleSpec
from pagedesk.engine.sampling.adjust import adjust
from pagedesk.protocol import SamplingParams
from tests.helpers.plain_sampler import adjusted

VOCAB = 12
token_ids = st.integers(0, VOCAB - 1)


def pairs(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[tuple[int, float], ...]]:
    return st.dictionaries(token_ids, values, max_size=6).map(lambda chosen: tuple(chosen.items()))


specs = st.builds(
    SampleSpec,
    params=st.builds(
        SamplingParams,
        repetition_penalty=st.floats(0.5, 3),
        presence_penalty=st.floats(-2, 2),
        frequency_penalty=st.floats(-2, 2),
        dry_multiplier=st.floats(0, 3),
        dry_base=st.floats(1, 2),
        dry_allowed_length=st.integers(1, 4),
        logit_bias=pairs(st.floats(-100, 100)),
    ),
    seed=st.just(0),
    draw_index=st.just(0),
    repetition=st.none() | st.builds(Repetition, counts=pairs(st.integers(1, 9)), runs=pairs(st.integers(4, 20))),  # type: ignore[arg-type]
)


def changed(rows: list[list[float]], of: list[SampleSpec], allowed: list[list[bool]] | None = None) -> torch.Tensor:
    scores = torch.tensor(rows, dtype=torch.float32)
    adjust(scores, of, None if allowed is None else torch.tensor(allowed))
    return scores


def spec(repetition: Repetition | None = None, **params: object) -> SampleSpec:
    return SampleSpec(SamplingParams(**params), 0, 0, repetition)  # type: ignore[arg-type]


rows_of_scores = st.lists(st.floats(-30, 30, width=32), min_size=VOCAB, max_size=VOCAB)
masks = st.lists(st.booleans(), min_size=VOCAB, max_size=VOCAB)


@settings(deadline=None)
@given(st.lists(st.tuples(rows_of_scores, specs, masks), min_size=1, max_size=4), st.booleans())
def test_every_row_is_changed_as_a_loop_over_its_tokens_changes_it(
    batch: list[tuple[list[float], SampleSpec, list[bool]]], is_masked: bool
) -> None:
    rows, of, allowed = (list(part) for part in zip(*batch, strict=True))
    expected = [adjusted(row, one, mask if is_masked else None) for row, one, mask in batch]
    assert changed(rows, of, allowed if is_masked else None).tolist() == expected


def test_a_row_that_asks_for_nothing_is_left_as_it_is() -> None:
    rows = [[0.25, -0.0, 3.0], [1.0, 2.0, 3.0]]
    scores = changed(rows, [spec(), spec(logit_bias=((0, 5.0),))])
    assert scores.tolist() == [rows[0], [6.0, 2.0, 3.0]]


def test_a_penalised_score_falls_whatever_its_sign() -> None:
    said = Repetition(counts=((0, 1), (1, 3)))
    assert changed([[4.0, -4.0, 4.0]], [spec(said, repetition_penalty=2.0)]).tolist() == [[2.0, -8.0, 4.0]]


def test_frequency_counts_every_time_and_presence_once() -> None:
    said = Repetition(counts=((0, 1), (1, 3)))
    scores = changed([[0.0, 0.0, 0.0]], [spec(said, presence_penalty=1.0, frequency_penalty=0.5)])
    assert scores.tolist() == [[-1.5, -2.5, 0.0]]


def test_dry_grows_with_the_length_of_the_run() -> None:
    said = Repetition(runs=((0, 2), (2, 5)))
    scores = changed([[0.0, 0.0, 0.0]], [spec(said, dry_multiplier=0.5, dry_base=2.0, dry_allowed_length=2)])
    assert scores.tolist() == [[-0.5, 0.0, -4.0]]


def test_a_bias_does_not_bring_back_what_the_mask_forbids() -> None:
    scores = changed([[1.0, 1.0]], [spec(logit_bias=((0, 100.0),))], [[False, True]])
    assert scores.tolist() == [[-math.inf, 1.0]]


def test_the_strongest_penalties_leave_every_score_finite() -> None:
    said = Repetition(counts=((0, 10**9), (1, 1)), runs=((1, 50),))
    params = {"repetition_penalty": 10.0, "frequency_penalty": 2.0, "dry_multiplier": 100.0, "dry_base": 4.0}
    assert bool(changed([[-3e38, 3e38]], [spec(said, **params)]).isfinite().all())


def test_a_token_that_the_scores_lack_is_passed_over() -> None:
    said = Repetition(counts=((7, 1),), runs=((8, 9),))
    row = [1.0, 2.0]
    assert changed([row], [spec(said, repetition_penalty=2.0, dry_multiplier=1.0)]).tolist() == [row]
