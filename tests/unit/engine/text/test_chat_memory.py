"""What is remembered of a chat between two requests."""

from __future__ import annotations

import pytest

from pagedesk.engine.text.chat_memory import MAX_CHATS, ChatMemory
from pagedesk.protocol import Message, Role, TextPart

QUESTION, NEXT = Message.of(Role.USER, "a"), Message.of(Role.USER, "b")
REPLY = Message(Role.ASSISTANT, (TextPart("x"),), (1, 2))


def test_the_first_request_of_a_chat_goes_on_from_nothing() -> None:
    memory = ChatMemory()
    memory.note_request("other", [QUESTION])
    assert not memory.note_request("c", [QUESTION])


@pytest.mark.parametrize("added", [[], [REPLY], [REPLY, NEXT], [NEXT]])
def test_a_chat_with_more_at_its_end_was_not_edited(added: list[Message]) -> None:
    memory = ChatMemory()
    memory.note_request("c", [QUESTION])
    assert memory.note_request("c", [QUESTION, *added])


@pytest.mark.parametrize(
    "changed", [[], [QUESTION, REPLY], [NEXT, REPLY, NEXT], [QUESTION, Message.of(Role.ASSISTANT, "x!"), NEXT]]
)
def test_a_chat_with_another_message_was_edited(changed: list[Message]) -> None:
    memory = ChatMemory()
    memory.note_request("c", [QUESTION, REPLY, NEXT])
    assert not memory.note_request("c", changed)


def test_a_reply_that_a_person_wrote_anew_is_an_edit() -> None:
    memory = ChatMemory()
    memory.note_request("c", [QUESTION])
    assert not memory.note_request("c", [QUESTION, Message.of(Role.ASSISTANT, "mine"), NEXT])


def test_only_the_chats_that_asked_last_are_remembered() -> None:
    memory = ChatMemory()
    memory.note_request("first", [QUESTION])
    for number in range(MAX_CHATS):
        memory.note_request(str(number), [QUESTION])
    assert not memory.note_request("first", [QUESTION, REPLY])
    assert memory.note_request(str(MAX_CHATS - 1), [QUESTION, REPLY])
