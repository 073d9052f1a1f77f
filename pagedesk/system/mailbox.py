"""A mailbox between two threads: any thread posts, one thread collects; a post never waits.

The reader is woken once for all posts since it last collected, so a burst of a thousand events costs
one wake-up. Knows nothing of what it carries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Items in the order they were posted.

    Args:
        wake: Called (on the posting thread) when an item lands in an empty mailbox; must not block.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._items: list[T] = []

    def post(self, item: T) -> None:
        """Add an item and wake the reader if it has nothing to collect yet."""
        with self._lock:
            was_empty = not self._items
            self._items.append(item)
        if was_empty:
            self._wake()

    def collect(self) -> list[T]:
        """Take everything that was posted since the last call."""
        with self._lock:
            items, self._items = self._items, []
        return items
