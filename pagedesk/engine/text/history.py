"""Brings a chat into the form that strict templates accept: no system message, turns that alternate."""

from __future__ import annotations

from collections.abc import Sequence

from pagedesk.protocol import Message, Role


def reconcile(messages: Sequence[Message]) -> list[Message]:
    """The same chat with its system text in the first user message and neighbours of one role joined.

    Replies before the first question are dropped.
    """
    system = "\n\n".join(message.text for message in messages if message.role is Role.SYSTEM)
    turns = [message for message in messages if message.role is not Role.SYSTEM]
    while turns and turns[0].role is Role.ASSISTANT:
        turns.pop(0)
    if system and turns:
        turns[0] = Message.of(Role.USER, f"{system}\n\n{turns[0].text}")
    return _joined(turns) if turns else list(messages)


def _joined(turns: Sequence[Message]) -> list[Message]:
    joined: list[Message] = []
    for turn in turns:
        if joined and joined[-1].role is turn.role:
            joined[-1] = Message.of(turn.role, f"{joined[-1].text}\n\n{turn.text}")
        else:
            joined.append(turn)
    return joined
