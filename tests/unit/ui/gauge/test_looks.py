from __future__ import annotations

import numpy as np
import pytest

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge import looks
from pagedesk.ui.gauge.looks import Looks, looks_of
from pagedesk.ui.gauge.palette import NO_CHAT_COLOR
from tests.helpers.snapshots import BlockSpec, cached, free, owned, random_blocks, shared, snapshot_of

COLORS = {"a": 3, "b": 7, "c": 11}


def look(*blocks: BlockSpec) -> list[int]:
    return looks_of(snapshot_of(blocks), COLORS).tolist()


def test_a_free_block_looks_free() -> None:
    assert look(free()) == [looks.FREE]


def test_owned_and_cached_blocks_have_the_colour_of_their_chat() -> None:
    assert look(owned("a"), owned("b"), cached("c")) == [looks.OWNED + 3, looks.OWNED + 7, looks.CACHED + 11]


def test_blocks_shared_by_two_chats_take_the_two_colours_in_turn() -> None:
    both = shared("a", "b")
    assert look(both, both, both) == [looks.SHARED + 3, looks.SHARED + 7, looks.SHARED + 3]


def test_a_block_keeps_its_colour_when_others_stop_being_shared() -> None:
    assert look(free(), free(), shared("a", "b"))[2] == looks.SHARED + 3


def test_blocks_shared_by_the_answers_of_one_chat_have_its_colour() -> None:
    one = shared("b", ref_count=4)
    assert look(one, one) == [looks.SHARED + 7, looks.SHARED + 7]


def test_blocks_shared_by_three_chats_have_the_colour_of_many() -> None:
    assert look(shared("a", "b", "c")) == [looks.SHARED_BY_MANY]


def test_a_chat_that_is_not_known_has_the_colour_for_that() -> None:
    assert look(owned("x")) == [looks.OWNED + NO_CHAT_COLOR]


def test_the_thirteenth_chat_has_the_first_colour_again() -> None:
    assert looks_of(snapshot_of([owned("x")]), {"x": 12}).tolist() == [looks.OWNED]


def test_each_look_tells_the_state_that_it_shows() -> None:
    snapshot = snapshot_of(random_blocks(500, ["a", "b", "c"]))
    assert looks.states_of(looks_of(snapshot, COLORS)).tobytes() == snapshot.states


def test_counts_by_state_are_those_of_the_snapshot() -> None:
    snapshot = snapshot_of(random_blocks(500, ["a", "b", "c"]))
    expected = [snapshot.num_free, snapshot.num_owned, snapshot.num_shared, snapshot.num_cached]
    assert looks.counts_of(looks_of(snapshot, COLORS)).tolist() == expected


def one(look: int) -> Looks:
    return np.array([look], np.uint8)


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [
        (looks.FREE, looks.OWNED + 3, True),
        (looks.FREE, looks.SHARED + 3, True),
        (looks.CACHED + 3, looks.OWNED + 4, True),
        (looks.OWNED + 3, looks.OWNED + 4, True),
        (looks.CACHED + 3, looks.OWNED + 3, False),
        (looks.CACHED + 3, looks.SHARED + 4, False),
        (looks.SHARED + 3, looks.OWNED + 4, False),
        (looks.OWNED + 3, looks.CACHED + 3, False),
        (looks.OWNED + 3, looks.FREE, False),
    ],
)
def test_a_block_is_newly_taken_if_it_was_free_or_another_chats(before: int, after: int, is_new: bool) -> None:
    assert looks.newly_taken(one(before), one(after)).tolist() == [is_new]


@pytest.mark.parametrize("state", [BlockState.OWNED, BlockState.SHARED, BlockState.CACHED])
def test_a_block_in_any_use_can_become_free(state: BlockState) -> None:
    before = look(BlockSpec(state, ("a",), 1))[0]
    assert looks.newly_freed(one(before), one(looks.FREE)).tolist() == [True]
