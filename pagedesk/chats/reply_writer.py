"""Saves replies while they are generated: collects their deltas and writes them in one transaction a flush.

Runs on the store's thread. It has no clock: a timer of its owner calls `flush()` every half second, so that a killed
program loses less than a second of a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pagedesk.chats.models import MessageState, ReplyEnd, ReplyUpdate
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import TextPart


@dataclass(slots=True)
class _Reply:
    """What is known of one reply, and whether the store knows it too."""

    texts: list[str] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    state: MessageState = MessageState.WRITING
    error: str = ""
    end: ReplyEnd | None = None
    is_dirty: bool = True

    def update(self, message_id: str) -> ReplyUpdate:
        """The reply as the store takes it."""
        self.texts = ["".join(self.texts)]
        return ReplyUpdate(
            message_id=message_id,
            parts=(TextPart(self.texts[0]),),
            token_ids=tuple(self.token_ids),
            state=self.state,
            error=self.error,
            end=self.end,
        )


class ReplyWriter:
    """The replies under way of one store."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._replies: dict[str, _Reply] = {}

    def note(self, message_id: str, text_delta: str, token_ids: Sequence[int]) -> None:
        """Add to a reply; it is written with the next flush."""
        reply = self._replies.setdefault(message_id, _Reply())
        reply.texts.append(text_delta)
        reply.token_ids.extend(token_ids)
        reply.is_dirty = True

    def finish(self, message_id: str, state: MessageState, error: str = "", end: ReplyEnd | None = None) -> None:
        """End a reply and write it, with all others that wait, at once.

        Args:
            message_id: The reply; it may have no text at all.
            state: DONE, STOPPED or FAILED.
            error: For FAILED: what to tell the user.
            end: What the engine told of a reply that it finished.

        Raises:
            ChatStoreError: It could not be written; the next flush tries again.
        """
        reply = self._replies.setdefault(message_id, _Reply())
        reply.state, reply.error, reply.end, reply.is_dirty = state, error, end, True
        self.flush()

    def flush(self) -> None:
        """Write what changed since the last flush, in one transaction.

        Raises:
            ChatStoreError: It could not be written; nothing is forgotten, the next flush tries again.
        """
        changed = {message_id: reply for message_id, reply in self._replies.items() if reply.is_dirty}
        if not changed:
            return
        self._store.update_replies([reply.update(message_id) for message_id, reply in changed.items()])
        for message_id, reply in changed.items():
            reply.is_dirty = False
            if reply.state is not MessageState.WRITING:
                del self._replies[message_id]
