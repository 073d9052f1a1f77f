"""One chat as the window holds it: its messages, what its newest request is doing, what its meter shows.

GUI thread. A model: it holds and tells, it asks no engine and writes no store. Lives on when its pane is closed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication, QObject, Signal

from pagedesk.chats.models import Chat, MessageState, ReplyEnd, StoredMessage
from pagedesk.protocol import Role, TurnsDropped, Waiting
from pagedesk.ui.chat.rate import TokenRate

translate = QCoreApplication.translate


class Activity(Enum):
    """What the newest request of a chat is doing."""

    IDLE = auto()
    QUEUED = auto()
    READING = auto()
    WAITING = auto()
    WRITING = auto()


@dataclass(slots=True, eq=False)
class ShownMessage:
    """A message as a transcript shows it; grows while it is written.

    Attributes:
        error: For a failed reply: cause and advice, a line each.
        dropped: For a reply to a chat that has outgrown the context: what the model was not given. Not stored.
    """

    message_id: str
    role: Role
    text: str
    state: MessageState
    created_at: float
    error: str = ""
    end: ReplyEnd | None = None
    token_ids: list[int] = field(default_factory=list)
    dropped: TurnsDropped | None = None

    @classmethod
    def of(cls, stored: StoredMessage) -> ShownMessage:
        """What the store holds, ready to be shown."""
        return cls(
            message_id=stored.message_id,
            role=stored.role,
            text=_shown_text(stored),
            state=stored.state,
            created_at=stored.created_at,
            error=stored.error,
            end=stored.end,
            token_ids=list(stored.token_ids),
        )


def _shown_text(stored: StoredMessage) -> str:
    if stored.state is not MessageState.DAMAGED:
        return stored.text
    said = translate("message", "This message is damaged in the file of the chats. What can be read of it:")
    return f"{said}\n\n{stored.text}".rstrip()


class Conversation(QObject):
    """A chat with its messages.

    Signals:
        message_added: The index of a message at the end.
        text_grew: The index of a message and the text that was added to it.
        message_changed: The index of a message whose state or end changed.
        activity_changed: The chat does something else now.
        tokens_changed: It holds more tokens, or they come at another speed.
        renamed: It has another title.
        system_prompt_changed: The model is told something else before the first message.
    """

    message_added = Signal(int)
    text_grew = Signal(int, str)
    message_changed = Signal(int)
    activity_changed = Signal()
    tokens_changed = Signal()
    renamed = Signal()
    system_prompt_changed = Signal()

    def __init__(self, chat: Chat, messages: list[ShownMessage]) -> None:
        super().__init__()
        self.chat_id = chat.chat_id
        self.title = chat.title
        self.color_index = chat.color_index
        self.system_prompt = chat.system_prompt
        self.messages = messages
        self.draft = ""
        self.activity = Activity.IDLE
        self.waiting: Waiting | None = None
        self.rate = TokenRate()
        self.used_tokens = _tokens_of(messages)

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way."""
        return self.activity is not Activity.IDLE

    @property
    def is_blank(self) -> bool:
        """Whether nothing was sent in it, and the model is told nothing either."""
        return not (self.messages or self.system_prompt)

    @property
    def last_end(self) -> ReplyEnd | None:
        """How the newest reply ended, if the engine finished it."""
        return self.messages[-1].end if self.messages else None

    def rename(self, title: str) -> None:
        """Give it another title."""
        self.title = title
        self.renamed.emit()

    def set_system_prompt(self, text: str) -> None:
        """Tell the model this before the first message, from the next request on."""
        self.system_prompt = text
        self.system_prompt_changed.emit()

    def add(self, message: ShownMessage) -> None:
        """Put a message at the end."""
        self.messages.append(message)
        self.message_added.emit(len(self.messages) - 1)

    def set_activity(self, activity: Activity, waiting: Waiting | None = None) -> None:
        """Tell what the request does now; `waiting` says what it waits for."""
        self.activity = activity
        self.waiting = waiting
        self.activity_changed.emit()
        if self.messages:
            self.message_changed.emit(len(self.messages) - 1)

    def note_dropped(self, message: ShownMessage, dropped: TurnsDropped) -> None:
        """The model is not given the oldest turns for this reply."""
        message.dropped = dropped
        self.message_changed.emit(self.messages.index(message))

    def begin(self, prompt_tokens: int) -> None:
        """The request got its turn: its prompt is being read."""
        self.used_tokens = prompt_tokens
        self.rate = TokenRate()
        self.set_activity(Activity.READING)

    def grow(self, message: ShownMessage, text: str, token_ids: tuple[int, ...]) -> None:
        """Add to the reply that is written."""
        message.text += text
        message.token_ids.extend(token_ids)
        self.used_tokens += len(token_ids)
        self.rate.note(len(token_ids), time.monotonic())
        if self.activity is not Activity.WRITING:
            self.set_activity(Activity.WRITING)
        if text:
            self.text_grew.emit(self.messages.index(message), text)
        self.tokens_changed.emit()

    def end(self, message: ShownMessage, state: MessageState, error: str = "", end: ReplyEnd | None = None) -> None:
        """The reply ended."""
        message.state, message.error, message.end = state, error, end
        if end is not None and end.usage.prompt_tokens:
            self.used_tokens = end.usage.prompt_tokens + end.usage.completion_tokens
        self.set_activity(Activity.IDLE)


def _tokens_of(messages: list[ShownMessage]) -> int:
    """The tokens of the context after the newest reply that the engine counted; 0 for none."""
    ends = [message.end for message in messages if message.end is not None]
    return ends[-1].usage.prompt_tokens + ends[-1].usage.completion_tokens if ends else 0
