"""Chats in the form of strict templates."""

from __future__ import annotations

from pagedesk.engine.text.history import reconcile
from pagedesk.protocol import Message, Role

SYSTEM, USER, ASSISTANT = Role.SYSTEM, Role.USER, Role.ASSISTANT


def chat(*turns: tuple[Role, str]) -> list[Message]:
    return [Message.of(role, text) for role, text in turns]


def test_the_system_text_goes_into_the_first_question() -> None:
    assert reconcile(chat((SYSTEM, "s"), (USER, "a"))) == chat((USER, "s\n\na"))


def test_neighbours_of_one_role_are_joined() -> None:
    assert reconcile(chat((USER, "a"), (USER, "b"), (ASSISTANT, "c"))) == chat((USER, "a\n\nb"), (ASSISTANT, "c"))


def test_a_reply_before_the_first_question_is_dropped() -> None:
    assert reconcile(chat((ASSISTANT, "x"), (USER, "a"))) == chat((USER, "a"))


def test_a_chat_that_alternates_is_not_changed() -> None:
    turns = chat((USER, "a"), (ASSISTANT, "b"), (USER, "c"))
    assert reconcile(turns) == turns


def test_a_chat_of_system_messages_alone_is_not_changed() -> None:
    assert reconcile(chat((SYSTEM, "s"))) == chat((SYSTEM, "s"))
