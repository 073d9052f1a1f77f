"""What the engine remembers of each chat between two requests: what was said up to the last one.

Engine thread only. Digests, not texts; knows no tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from pagedesk.protocol import Message, Role

MAX_CHATS = 1024
_DIGEST_BYTES = 16


class ChatMemory:
    """The chats that have asked something since the model was loaded; those silent longest are forgotten."""

    def __init__(self) -> None:
        self._messages: dict[str, list[bytes]] = {}

    def note_request(self, chat_id: str, messages: Sequence[Message]) -> bool:
        """Remember what a chat consists of now.

        Returns:
            Whether nothing in it was changed by hand since its last request: it begins with the same messages, and
            what was added are questions and replies as they were generated.
        """
        before, now = self._messages.pop(chat_id, None), [_digest(message) for message in messages]
        self._messages[chat_id] = now
        if len(self._messages) > MAX_CHATS:
            del self._messages[next(iter(self._messages))]
        if before is None or now[: len(before)] != before:
            return False
        return all(message.role is not Role.ASSISTANT or message.token_ids for message in messages[len(before) :])


def _digest(message: Message) -> bytes:
    said = f"{message.role.value}\0{message.text}".encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=_DIGEST_BYTES).digest()
