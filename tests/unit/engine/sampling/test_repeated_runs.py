"""The search for what a sequence is about to repeat."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagedesk.engine.sampling.repeated_runs import MAX_RUN, RepeatedRuns
from pagedesk.protocol import SamplingParams
from tests.helpers.plain_sampler import runs

TABLE = [b"", b"a", b"b", b"c", b"\n", b"ab", b"x:", b"<", b"|>", b"c\na"]
A, B, C, NEWLINE, CONTROL = 1, 2, 3, 4, 0


def finder(params: SamplingParams, table: list[bytes] = TABLE) -> RepeatedRuns:
    return RepeatedRuns(table, params.dry_sequence_breakers, params.dry_penalty_last_n, params.dry_allowed_length)


def found(history: list[int], **params: object) -> dict[int, int]:
    return dict(finder(SamplingParams(**params)).look(history))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=300)
@given(
    prompt=st.lists(st.integers(0, len(TABLE) - 1), min_size=1, max_size=30),
    answer=st.lists(st.integers(0, len(TABLE) - 1), max_size=30),
    params=st.builds(
        SamplingParams,
        dry_allowed_length=st.integers(1, 4),
        dry_penalty_last_n=st.none() | st.integers(0, 20),
        dry_sequence_breakers=st.sampled_from([(), ("\n", ":"), ("<|>",), ("abc", "\n"), ("a",)]),
    ),
)
def test_runs_that_follow_a_sequence_are_those_of_comparing_every_pair(
    prompt: list[int], answer: list[int], params: SamplingParams
) -> None:
    following, history = finder(params), list(prompt)
    assert dict(following.look(history)) == runs(history, params, TABLE, MAX_RUN)
    for token in answer:
        history.append(token)
        assert dict(following.look(history)) == runs(history, params, TABLE, MAX_RUN)


@settings(deadline=None, max_examples=50)
@given(period=st.lists(st.integers(1, 3), min_size=1, max_size=4), length=st.integers(1, 150))
def test_a_loop_is_found_from_a_long_prompt_as_from_its_tokens_one_by_one(period: list[int], length: int) -> None:
    history = (period * length)[:length]
    params = SamplingParams(dry_sequence_breakers=("<|>|>",))
    stepwise = finder(params)
    for end in range(1, length):
        stepwise.look(history[:end])
    assert dict(stepwise.look(history)) == found(history, dry_sequence_breakers=("<|>|>",))


def test_the_token_that_followed_is_reported_with_the_length_of_the_run() -> None:
    assert found([A, B, C, A, B]) == {C: 2}


def test_the_longest_of_several_runs_counts() -> None:
    assert found([B, C, A, B, C, C, A, B], dry_allowed_length=1) == {C: 3}


def test_shorter_runs_than_allowed_are_not_reported() -> None:
    assert found([A, B, C, A, B], dry_allowed_length=3) == {}


@pytest.mark.parametrize("wall", [NEWLINE, CONTROL, 6, 9], ids=["newline", "control token", "with more text", "inside"])
def test_a_run_does_not_reach_across_a_break(wall: int) -> None:
    assert found([A, wall, B, C, A, wall, B], dry_allowed_length=1) == {C: 1}


def test_a_breaker_may_be_spread_over_tokens() -> None:
    assert found([7, 8, B, C, 7, 8, B], dry_allowed_length=1, dry_sequence_breakers=("<|>",)) == {C: 1}


@pytest.mark.parametrize("wall", [NEWLINE, CONTROL])
def test_a_token_that_breaks_is_never_reported(wall: int) -> None:
    assert found([A, B, wall, A, B]) == {}


def test_a_very_long_run_counts_as_the_longest() -> None:
    assert found([A] * 4000) == {A: MAX_RUN}


def test_a_token_without_a_known_text_breaks() -> None:
    assert found([99, B, C, 99, B]) == {}


def test_looking_twice_changes_nothing() -> None:
    following = finder(SamplingParams())
    assert following.look([A, B, C, A, B]) == following.look([A, B, C, A, B])
