"""Whether a chat was changed by hand between two of its requests.

Engine thread only. Keeps digests, not texts; knows no tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from pagedesk.protocol import Message, Role

MAX_CHATS = 1024
_DIGEST_BYTES = 16


class ChatEdits:
    """What each chat consisted of when it asked last; chats that were silent longest are forgotten."""

    def __init__(self) -> None:
        self._messages: dict[str, list[bytes]] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def note_request(self, chat_id: str, messages: Sequence[Message]) -> bool:
        """Remember what a chat consists of now.

        Returns:
            Whether it goes on from its last request as that was: it begins with the same messages, and what was added
            are questions, and replies as they were generated.
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
