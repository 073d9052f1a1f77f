"""Random numbers from a seed and a counter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagedesk.engine.sampling.uniform import uniform


@given(seed=st.integers(-(2**70), 2**70), draw_index=st.integers(0, 2**40))
def test_every_draw_lies_between_zero_and_one(seed: int, draw_index: int) -> None:
    assert 0 <= uniform(seed, draw_index) < 1


def test_the_draws_of_a_seed_are_spread_evenly() -> None:
    counts = [0] * 10
    for draw_index in range(10_000):
        counts[int(uniform(7, draw_index) * 10)] += 1
    assert max(abs(count - 1000) for count in counts) < 150


def test_neighbouring_seeds_are_spread_evenly_too() -> None:
    counts = [0] * 10
    for seed in range(10_000):
        counts[int(uniform(seed, 0) * 10)] += 1
    assert max(abs(count - 1000) for count in counts) < 150


def test_a_draw_depends_on_seed_and_counter_alone() -> None:
    assert uniform(1, 2) == uniform(1, 2)
    assert len({uniform(seed, draw) for seed in range(20) for draw in range(20)}) == 400


def test_the_streams_of_a_seed_are_spread_evenly_and_independent() -> None:
    counts = [0] * 16
    for draw_index in range(16_000):
        counts[int(uniform(7, draw_index) * 4) * 4 + int(uniform(7, draw_index, 1) * 4)] += 1
    assert max(abs(count - 1000) for count in counts) < 150


def test_no_draw_of_a_stream_is_a_draw_of_another() -> None:
    assert len({uniform(3, draw, stream) for draw in range(500) for stream in range(3)}) == 1500
