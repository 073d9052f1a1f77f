"""The moment that each chat takes for the present.

Engine thread only. Templates write the date into the prompt; a date that moved with every message would make the cache
of the last turn worthless, one that never moves would soon be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

MAX_CHATS = 1024


def _now() -> datetime:
    return datetime.now().astimezone()


class ChatDates:
    """For each chat the moment of its first prompt of the day; chats that were silent longest are forgotten.

    Args:
        clock: Gives the present.
    """

    def __init__(self, clock: Callable[[], datetime] = _now) -> None:
        self._clock = clock
        self._dates: dict[str, datetime] = {}

    def __len__(self) -> int:
        return len(self._dates)

    def of(self, chat_id: str) -> datetime:
        """The present of this chat."""
        now = self._clock()
        known = self._dates.pop(chat_id, now)
        self._dates[chat_id] = known if known.date() == now.date() else now
        if len(self._dates) > MAX_CHATS:
            del self._dates[next(iter(self._dates))]
        return self._dates[chat_id]
