"""One answer's events: what is shown, whatever its tokens are and however it ends."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from pagedesk.engine.text.detokenizer import Detokenizer
from pagedesk.engine.text.reply import Reply
from pagedesk.protocol import Event, Finished, FinishReason, TextDelta
from tests.helpers.broken_text import whole_text

relaxed = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
stop_lists = st.lists(st.text("ab日", min_size=1, max_size=4), max_size=3)
endings = st.sampled_from([FinishReason.LENGTH, FinishReason.CANCELLED])


def answer(tokens: list[bytes], stops: list[str], ending: FinishReason) -> list[Event]:
    """The events of an answer of these tokens, stopped by its text or else ended."""
    reply, events = Reply("r", 0, 1, Detokenizer(tokens), 0.0, stops), list[Event]()
    for token_id in range(len(tokens)):
        is_last = ending is FinishReason.LENGTH and token_id == len(tokens) - 1
        events += reply.add(token_id, 1.0, ending if is_last else None)
        if reply.is_ended:
            return events
    return events + reply.end(1.0, ending)


def shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def searched(text: str, stops: list[str]) -> str:
    """The text before the stop that is complete first."""
    ends = [(text.find(stop) + len(stop), text.find(stop)) for stop in stops if stop in text]
    return text[: min(ends)[1]] if ends else text


@relaxed
@given(st.text("ab日", min_size=1, max_size=20), st.data(), stop_lists, endings)
def test_any_cut_of_a_text_into_tokens_shows_the_same(
    text: str, data: st.DataObject, stops: list[str], ending: FinishReason
) -> None:
    raw = text.encode()
    places = sorted(data.draw(st.sets(st.integers(1, len(raw)), max_size=len(raw))) | {len(raw)})
    tokens = [raw[start:end] for start, end in zip([0, *places], places, strict=False)]
    events = answer(tokens, stops, ending)
    assert (shown(events), events[-1].reason) == (  # type: ignore[union-attr]
        searched(text, stops),
        FinishReason.STOP if any(stop in text for stop in stops) else ending,
    )


@relaxed
@given(st.lists(st.binary(max_size=4), min_size=1), stop_lists, endings)
def test_any_bytes_show_what_a_search_of_them_all_shows(
    tokens: list[bytes], stops: list[str], ending: FinishReason
) -> None:
    assert shown(answer(tokens, stops, ending)) == searched(whole_text(b"".join(tokens)), stops)


def test_an_answer_that_its_text_stops_has_every_token_and_the_reason_stop() -> None:
    events = answer([b"Hi", b" us", b"er:", b"more"], ["user:"], FinishReason.LENGTH)
    assert [event.token_ids for event in events if isinstance(event, TextDelta)] == [(0,), (1,), (2,)]
    assert isinstance(events[-1], Finished)
    assert (shown(events), events[-1].reason, events[-1].usage.completion_tokens) == ("Hi ", FinishReason.STOP, 3)


@pytest.mark.parametrize("ending", [FinishReason.LENGTH, FinishReason.CANCELLED])
def test_half_a_stop_is_shown_when_the_answer_ends(ending: FinishReason) -> None:
    events = answer([b"Hi", b" us"], ["user:"], ending)
    assert (shown(events), events[-1].reason) == ("Hi us", ending)  # type: ignore[union-attr]


def test_a_stop_of_a_broken_character_stops() -> None:
    events = answer([b"a", b"\xe6", b"b"], ["\N{REPLACEMENT CHARACTER}"], FinishReason.LENGTH)
    assert (shown(events), events[-1].reason) == ("a", FinishReason.STOP)  # type: ignore[union-attr]
