"""Counting the last tokens of a sequence as it grows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedesk.engine.sampling.window_counts import WindowCounts
from tests.helpers.plain_sampler import counts


@given(
    pieces=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=12),
    size=st.none() | st.integers(0, 12),
)
def test_counts_that_follow_a_sequence_are_those_of_counting_it_anew(pieces: list[list[int]], size: int | None) -> None:
    window, history = WindowCounts(size), list[int]()
    for piece in pieces:
        history += piece
        assert dict(window.look(history)) == counts(history, size)


@pytest.mark.parametrize("size", [None, 0, 1, 3])
def test_looking_twice_changes_nothing(size: int | None) -> None:
    window = WindowCounts(size)
    assert window.look([1, 2, 1, 1]) == window.look([1, 2, 1, 1])
