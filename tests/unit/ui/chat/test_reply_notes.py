"""The sentence after a reply says what ended it."""

from __future__ import annotations

import pytest

from pagedesk.chats.models import Chat, MessageState, ReplyEnd
from pagedesk.protocol import FinishReason, Role, Timings, Usage
from pagedesk.ui.chat.conversation import Conversation, ShownMessage
from pagedesk.ui.chat.reply_notes import line_of

CANCELLED = ReplyEnd(FinishReason.CANCELLED, Usage(0, 0, 0, 0), Timings(0.0, 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("text", "end", "line"),
    [
        ("", None, "PageDesk ended before the reply began. Send the message again."),
        ("Half", None, "Stopped. What was written is kept."),
        ("Half", CANCELLED, "Stopped. What was written is kept."),
    ],
)
def test_a_stopped_reply_says_whether_it_had_begun_when_the_program_ended(
    text: str, end: ReplyEnd | None, line: str
) -> None:
    message = ShownMessage("m", Role.ASSISTANT, text, MessageState.STOPPED, 0.0, end=end)
    assert line_of(Conversation(Chat("c", "", 0, "", 0.0, 0.0), [message]), message) == line
