"""The history of a chat as the engine takes it, and the title that its first message gives it.

Plain functions of plain values.
"""

from __future__ import annotations

from collections.abc import Sequence

from pagedesk.chats.models import MessageState
from pagedesk.protocol import Message, Role, TextPart
from pagedesk.ui.chat.conversation import ShownMessage

_TITLE_LENGTH = 42
_SENTENCE_ENDS = ".!?\u3002\uff01\uff1f"  # the last three are the full-width ones of Japanese


def history(system_prompt: str, messages: Sequence[ShownMessage]) -> tuple[Message, ...]:
    """The turns to compute: replies with the ids that were generated; what is wordless or damaged is left out.

    A question that failed before its reply had a word is left out too: what made it fail (it was too long, say) would
    make every later question fail. Questions that stand beside each other because a reply was stopped are joined: many
    chat templates refuse two turns of the same role in a row.
    """
    turns: list[Message] = [Message.of(Role.SYSTEM, system_prompt)] if system_prompt else []
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        if message.state is MessageState.DAMAGED:
            continue
        if _is_wordless(message) or (following is not None and _is_refused(message, following)):
            continue
        if message.role is Role.USER and turns and turns[-1].role is Role.USER:
            turns[-1] = Message.of(Role.USER, f"{turns[-1].text}\n\n{message.text}")
        else:
            turns.append(Message(message.role, (TextPart(message.text),), tuple(message.token_ids) or None))
    return tuple(turns)


def _is_wordless(message: ShownMessage) -> bool:
    return message.role is Role.ASSISTANT and not message.text


def _is_refused(message: ShownMessage, following: ShownMessage) -> bool:
    """Whether a message is a question that failed before its reply had a word."""
    is_question = message.role is Role.USER
    return is_question and _is_wordless(following) and following.state is MessageState.FAILED


def title_of(text: str) -> str:
    """The first words of a message: its first sentence if that is short, else as many words as fit a title."""
    line = " ".join(text.split())
    ends = [line.find(mark) for mark in _SENTENCE_ENDS if 0 < line.find(mark) < _TITLE_LENGTH]
    if ends:
        return line[: min(ends)]
    if len(line) <= _TITLE_LENGTH:
        return line
    cut = line[:_TITLE_LENGTH]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "\u2026"
