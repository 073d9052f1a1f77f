"""Which turns are left out of a chat that has outgrown its context, and how often that is asked."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pagedesk.engine.text.overflow import FittedPrompt, drop_oldest, room_for_reply
from pagedesk.protocol import Message, Role

ROLES = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT}
FRAME = 2


def chat(roles: str, lengths: Sequence[int] = ()) -> list[Message]:
    """Messages of these roles, each as long as told, or ten letters."""
    sizes = lengths or [10] * len(roles)
    return [
        Message.of(ROLES[role], f"{index % 10}" * size)
        for index, (role, size) in enumerate(zip(roles, sizes, strict=True))
    ]


class Builder:
    """A prompt of a letter a token and a frame around each message; counts how often it is asked."""

    def __init__(self) -> None:
        self.num_built = 0

    def __call__(self, messages: Sequence[Message]) -> list[int]:
        self.num_built += 1
        return [0] * sum(len(message.text) + FRAME for message in messages)


def left_out(messages: list[Message], prompt: FittedPrompt) -> str:
    """The places of the messages that are not in the prompt."""
    kept = {id(message) for message in prompt.messages}
    return "".join(str(index) for index, message in enumerate(messages) if id(message) not in kept)


def dropped(roles: str, room: int, lengths: Sequence[int] = ()) -> str:
    messages = chat(roles, lengths)
    return left_out(messages, drop_oldest(messages, Builder(), room))


def test_a_chat_that_fits_is_left_whole_and_built_once() -> None:
    messages, builder = chat("suaua" * 20), Builder()
    prompt = drop_oldest(messages, builder, 1200)
    assert (list(prompt.messages), prompt.num_dropped_messages, prompt.num_dropped_tokens) == (messages, 0, 0)
    assert (len(prompt.prompt_ids), builder.num_built) == (1200, 1)


def test_the_oldest_turns_go_until_the_rest_fits() -> None:
    assert dropped("uauau", 60) == ""
    assert dropped("uauau", 59) == "01"
    assert dropped("uauau", 35) == "0123"


def test_system_messages_stay_wherever_they_stand() -> None:
    assert dropped("suauau", 48) == "12"
    assert dropped("uasuau", 48) == "01"


def test_all_replies_to_a_question_go_with_it() -> None:
    assert dropped("uaaau", 50) == "0123"


def test_a_greeting_goes_with_the_first_question() -> None:
    assert dropped("auauau", 60) == "012"


def test_questions_without_a_reply_go_one_by_one() -> None:
    assert dropped("uuuu", 36) == "0"


def test_what_follows_the_newest_question_stays() -> None:
    assert dropped("uaua", 24) == "01"


@pytest.mark.parametrize("roles", ["u", "su", "ua", "a", "s", "sua"])
def test_a_chat_of_one_turn_is_left_whole_though_it_does_not_fit(roles: str) -> None:
    builder = Builder()
    prompt = drop_oldest(chat(roles), builder, 3)
    assert (prompt.num_dropped_messages, builder.num_built) == (0, 1)


def test_a_newest_question_that_does_not_fit_stays_alone_with_the_system_prompt() -> None:
    assert dropped("suauau", 20) == "1234"


def test_what_is_left_out_is_told_in_messages_and_tokens() -> None:
    prompt = drop_oldest(chat("suauau", [5, 6, 7, 8, 9, 10]), Builder(), 45)
    assert (prompt.num_dropped_messages, prompt.num_dropped_tokens) == (2, 6 + 7 + 2 * FRAME)


def test_a_chat_of_a_thousand_turns_is_built_a_dozen_times() -> None:
    builder = Builder()
    prompt = drop_oldest(chat("ua" * 999 + "u"), builder, 5000)
    assert len(prompt.prompt_ids) <= 5000 < len(prompt.prompt_ids) + 24
    assert builder.num_built <= 12


@settings(deadline=None, max_examples=200)
@given(st.text("sua", min_size=1, max_size=14), st.data())
def test_no_turn_more_than_needed_is_left_out(roles: str, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(0, 9), min_size=len(roles), max_size=len(roles)))
    room = data.draw(st.integers(0, 120))
    messages = chat(roles, lengths)
    starts = [0, *[index for index, role in enumerate(roles) if role == "u"][1:]]
    choices = [[m for i, m in enumerate(messages) if i >= start or roles[i] == "s"] for start in starts]
    fitting = [choice for choice in choices if len(Builder()(choice)) <= room]
    assert list(drop_oldest(messages, Builder(), room).messages) == (fitting or choices[-1:])[0]


@pytest.mark.parametrize(
    ("context", "max_tokens", "room"), [(4000, None, 1000), (4000, 100, 100), (4000, 3000, 1000), (3, None, 1)]
)
def test_the_room_for_a_reply_is_what_was_asked_for_and_at_most_a_quarter(
    context: int, max_tokens: int | None, room: int
) -> None:
    assert room_for_reply(context, max_tokens) == room
