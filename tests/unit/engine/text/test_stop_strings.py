"""Stop strings: the same text however it is cut, and nothing held back without need."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pagedesk.engine.text.stop_strings import StopStrings

letters = st.text("abé", min_size=1, max_size=4)
stop_lists = st.lists(letters, max_size=4)
cut_texts = st.lists(st.text("abé", max_size=5), max_size=12)


def before_stop(text: str, stops: list[str]) -> str | None:
    """What stands before the stop that is complete first, the longest of them; None if there is none."""
    for end in range(len(text) + 1):
        starts = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if starts:
            return text[: min(starts)]
    return None


def beginning_of_stop(text: str, stops: list[str]) -> str:
    """The longest end of a text that a stop begins with."""
    ends = [text[place:] for place in range(len(text))]
    return next((end for end in ends if any(stop.startswith(end) for stop in stops)), "")


@settings(deadline=None, max_examples=500)
@given(cut_texts, stop_lists)
def test_any_cut_shows_what_a_search_of_the_whole_text_shows(pieces: list[str], stops: list[str]) -> None:
    finder, shown, is_stopped = StopStrings(stops), "", False
    for piece in pieces:
        text, is_stopped = finder.add(piece)
        shown += text
        if is_stopped:
            break
    expected = before_stop("".join(pieces), stops)
    assert (shown + finder.flush(), is_stopped) == (
        "".join(pieces) if expected is None else expected,
        expected is not None,
    )


@settings(deadline=None, max_examples=500)
@given(cut_texts, stop_lists)
def test_only_the_beginning_of_a_stop_is_held_back(pieces: list[str], stops: list[str]) -> None:
    finder, shown, seen = StopStrings(stops), "", ""
    for piece in pieces:
        text, is_stopped = finder.add(piece)
        if is_stopped:
            return
        shown, seen = shown + text, seen + piece
        assert shown + beginning_of_stop(seen, stops) == seen


@pytest.mark.parametrize("pieces", [["abcd"], ["a", "b", "c", "d"], ["ab", "cd"]])
def test_of_two_stops_the_one_that_is_complete_first_counts(pieces: list[str]) -> None:
    finder = StopStrings(["abcd", "bc"])
    shown = ""
    for piece in pieces:
        text, is_stopped = finder.add(piece)
        shown += text
        if is_stopped:
            break
    assert shown == "a"


def test_what_is_held_comes_as_soon_as_it_is_no_stop() -> None:
    finder = StopStrings(["END."])
    assert [finder.add(piece) for piece in ["The E", "N", "D", "?"]] == [
        ("The ", False),
        ("", False),
        ("", False),
        ("END?", False),
    ]


def test_without_stops_everything_is_shown_at_once() -> None:
    assert StopStrings(()).add("anything") == ("anything", False)
