"""What the engine remembers of each chat between two requests: when it began, and what was said up to the last one.

Engine thread only. Digests, not texts; knows no tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b

from pagedesk.protocol import Message, Role

_DIGEST_BYTES = 16


class ChatMemory:
    """The chats that have asked something since the model was loaded."""

    def __init__(self) -> None:
        self._dates: dict[str, datetime] = {}
        self._messages: dict[str, list[bytes]] = {}

    def date_of(self, chat_id: str) -> datetime:
        """When the chat asked first: a template that writes the date writes the same one into every turn."""
        return self._dates.setdefault(chat_id, datetime.now().astimezone())

    def note_request(self, chat_id: str, messages: Sequence[Message]) -> bool:
        """Remember what a chat consists of now.

        Returns:
            Whether nothing in it was changed by hand since its last request: it begins with the same messages, and
            what was added are questions and replies as they were generated.
        """
        before, now = self._messages.get(chat_id), [_digest(message) for message in messages]
        self._messages[chat_id] = now
        if before is None or now[: len(before)] != before:
            return False
        return all(message.role is not Role.ASSISTANT or message.token_ids for message in messages[len(before) :])


def _digest(message: Message) -> bytes:
    said = f"{message.role.value}\0{message.text}".encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=_DIGEST_BYTES).digest()
