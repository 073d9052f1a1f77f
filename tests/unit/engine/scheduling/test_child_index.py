"""The longest common start is found next to where a text would stand."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pagedesk.engine.scheduling.child_index import Child, ChildIndex, num_common

PARENT = b"p"
runs = st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple)


def index_of(*texts: tuple[int, ...]) -> ChildIndex[str]:
    index: ChildIndex[str] = ChildIndex()
    for order, text in enumerate(texts):
        index.add(PARENT, Child(text, order, ""))
    return index


@pytest.mark.parametrize(
    ("one", "other", "expected"), [((), (1,), 0), ((1, 2), (1, 3), 1), ((1, 2), (1, 2, 3), 2), ((1,), (2,), 0)]
)
def test_common_tokens_are_counted_from_the_start(one: tuple[int, ...], other: tuple[int, ...], expected: int) -> None:
    assert num_common(one, other) == expected


@given(texts=st.lists(runs, max_size=12), wanted=runs)
def test_no_child_agrees_longer_than_the_best(texts: list[tuple[int, ...]], wanted: tuple[int, ...]) -> None:
    best = index_of(*texts).best(PARENT, wanted)
    found = 0 if best is None else best.num_tokens
    assert found == max((num_common(text, wanted) for text in texts), default=0)


@given(texts=st.lists(runs, min_size=1, max_size=12))
def test_a_child_is_covered_if_another_starts_with_all_of_it(texts: list[tuple[int, ...]]) -> None:
    first, others = texts[0], texts[1:]
    covered = index_of(*texts).covers(PARENT, Child(first, 0, ""))
    assert covered == any(other[: len(first)] == first for other in others)


def test_children_of_another_parent_do_not_match() -> None:
    assert index_of((1, 2)).best(b"other", (1, 2)) is None


def test_the_last_child_that_goes_leaves_nothing() -> None:
    index = index_of((1, 2))
    index.remove(PARENT, Child((1, 2), 0, ""))
    assert (len(index), list(index.of(PARENT))) == (0, [])
