"""What was in the cache and is no more: so much is remembered that a miss can be explained.

Engine thread only. Text alone, no memory of the cache; the oldest entries are forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from pagedesk.engine.scheduling.block import Content
from pagedesk.engine.scheduling.child_index import Child, ChildIndex

MAX_REMEMBERED = 16_384
"""About 10 MB, and more blocks than the pool of most cards has."""


class Evictions:
    """The newest evicted contents, and the chats whose text they were."""

    def __init__(self) -> None:
        self._children: ChildIndex[frozenset[str]] = ChildIndex()
        self._queue: deque[tuple[bytes, Child[frozenset[str]]]] = deque()
        self._num_noted = 0

    @property
    def num_noted(self) -> int:
        """How many contents there have been, forgotten ones included."""
        return self._num_noted

    def note(self, content: Content, chats: frozenset[str]) -> None:
        """Remember what a block held that is taken for something else."""
        child = Child(content.token_ids, self._num_noted, chats)
        self._num_noted += 1
        self._children.add(content.parent, child)
        self._queue.append((content.parent, child))
        if len(self._queue) > MAX_REMEMBERED:
            self._children.remove(*self._queue.popleft())

    def num_matching(self, parent: bytes, token_ids: tuple[int, ...]) -> int:
        """How many of these tokens the cache had after `parent`."""
        match = self._children.best(parent, token_ids)
        return 0 if match is None else match.num_tokens

    def of_chat(self, parent: bytes, chat_id: str) -> Iterable[tuple[int, ...]]:
        """The texts of one chat that stood after `parent`."""
        return (child.token_ids for child in self._children.of(parent) if chat_id in child.value)
