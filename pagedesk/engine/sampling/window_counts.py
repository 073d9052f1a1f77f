"""How often each of the last tokens of a growing sequence was said. Engine thread; stdlib only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


class WindowCounts:
    """Follows one sequence; a step costs what is new, not what is old.

    Args:
        size: How many of the last tokens count; None: all.
    """

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._counts: Counter[int] = Counter()
        self._start = 0
        self._end = 0

    def look(self, token_ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(token id, how often) over the window at the end of the sequence, which has only grown since last time."""
        start = 0 if self._size is None else max(0, len(token_ids) - self._size)
        if start >= self._end:
            self._counts.clear()
            self._start = self._end = start
        self._counts.update(token_ids[self._end :])
        for token_id in token_ids[self._start : start]:
            self._counts[token_id] -= 1
            if not self._counts[token_id]:
                del self._counts[token_id]
        self._start, self._end = start, len(token_ids)
        return tuple(self._counts.items())
