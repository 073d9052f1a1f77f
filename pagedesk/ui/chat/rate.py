"""How fast a reply is being written: tokens counted over the newest two seconds.

Knows no clock; the caller tells the time.
"""

from __future__ import annotations

from collections import deque

_WINDOW_S = 2.0


class TokenRate:
    """Tokens a second of one reply under way."""

    def __init__(self) -> None:
        self._arrivals: deque[tuple[float, int]] = deque()

    def note(self, num_tokens: int, now: float) -> None:
        """Tell of tokens that arrived at `now`, in seconds."""
        self._arrivals.append((now, num_tokens))
        while now - self._arrivals[0][0] > _WINDOW_S:
            self._arrivals.popleft()

    @property
    def tokens_per_s(self) -> float:
        """(tokens after the first arrival) / (time since it); 0 until there is something to divide."""
        if len(self._arrivals) < 2:
            return 0.0
        first, last = self._arrivals[0], self._arrivals[-1]
        num_tokens = sum(count for _, count in self._arrivals) - first[1]
        elapsed_s = last[0] - first[0]
        return num_tokens / elapsed_s if elapsed_s > 0 else 0.0
