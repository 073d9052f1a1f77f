"""What `pagedesk chat --json` prints, from what the engine told."""

from __future__ import annotations

from pagedesk.commands.chat import as_json
from pagedesk.commands.client import Answer
from pagedesk.protocol import FinishReason, TurnsDropped
from tests.helpers.fake_engine import finished


def answers(reason: FinishReason = FinishReason.STOP) -> list[Answer]:
    return [Answer("Hi", [1, 2], finished("chat", num_tokens=2, reason=reason))]


def test_what_was_left_out_is_a_field_of_its_own() -> None:
    report = as_json("m", answers(), None, TurnsDropped("chat", 4, 900))
    assert report["dropped"] == {"messages": 4, "tokens": 900}


def test_nothing_left_out_is_told_as_none() -> None:
    assert as_json("m", answers(), None)["dropped"] == {"messages": 0, "tokens": 0}


def test_the_end_of_the_context_has_a_name_of_its_own() -> None:
    assert as_json("m", answers(FinishReason.CONTEXT), None)["answers"][0]["finish_reason"] == "context"
