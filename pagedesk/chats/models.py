"""What the store holds, as frozen plain values that any thread may read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pagedesk.protocol import FinishReason, Part, Role, TextPart, Timings, Usage

NUM_CHAT_COLORS = 12
"""How many colours a theme has for chats."""


class MessageState(StrEnum):
    """How far a message is: WRITING while it is generated, then one of the others for good.

    DAMAGED is never stored: the disk gave back something else than was written, and this is what could be read of it.
    """

    WRITING = "writing"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A part of a kind that this version does not know: kept as it was written, shown to nobody.

    Attributes:
        json: The part's JSON object.
    """

    json: str


StoredPart: TypeAlias = Part | UnknownPart


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """Why a reply ended and what it cost."""

    reason: FinishReason
    usage: Usage
    timings: Timings


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation.

    Attributes:
        color_index: Which of the theme's twelve chat colours is its own.
        system_prompt: Empty for none.
        created_at: Seconds since the epoch.
        updated_at: When the newest message was added; seconds since the epoch.
    """

    chat_id: str
    title: str
    color_index: int
    system_prompt: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message as it is in the store.

    Attributes:
        parent_id: The message that it follows; None for the first of a chat.
        token_ids: For a reply: the ids that were generated, in order.
        error: For a failed reply: what to tell the user; else empty.
        created_at: Seconds since the epoch.
        end: For a reply that the engine finished: why and at what cost.
    """

    message_id: str
    chat_id: str
    parent_id: str | None
    role: Role
    parts: tuple[StoredPart, ...]
    token_ids: tuple[int, ...]
    state: MessageState
    error: str
    created_at: float
    end: ReplyEnd | None = None

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class ReplyUpdate:
    """The whole of a reply under way or just ended; it replaces what the store had of it."""

    message_id: str
    parts: tuple[StoredPart, ...]
    token_ids: tuple[int, ...]
    state: MessageState
    error: str = ""
    end: ReplyEnd | None = None


@dataclass(frozen=True, slots=True)
class Recovery:
    """A damaged database was moved aside, and a fresh one with what could be read of it is in use.

    Attributes:
        moved_to: Where the damaged file is now.
        cause: What was wrong with it.
        num_messages: How many messages could be read of it.
    """

    moved_to: Path
    cause: str
    num_messages: int
