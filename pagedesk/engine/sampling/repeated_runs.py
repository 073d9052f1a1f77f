"""Which tokens would go on repeating what a sequence said before: the search of DRY. Engine thread; stdlib only.

DRY ("don't repeat yourself", p-e-w, text-generation-webui 2024): where the end of a text equals an earlier stretch of
it, the token that followed the stretch is made less likely, the more so the longer the stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

MAX_RUN = 50
"""Longer runs count as this long: the penalty grows exponentially, and is beyond any score by then."""


class RepeatedRuns:
    """Follows one sequence; a step costs as much as its last token has earlier places.

    Breakers are texts. A run never reaches across the token in which one ends, wherever it began, so a breaker may be
    spread over tokens; nor across a token without text, as control tokens are. Tokens that break are never reported.

    Args:
        table: The bytes of each token, by id; a token beyond it has no text.
        breakers: The texts, none empty.
        size: How many of the last tokens are searched; None: all.
        min_run: Shorter runs are not reported.
    """

    def __init__(self, table: Sequence[bytes], breakers: Sequence[str], size: int | None, min_run: int) -> None:
        self._table = table
        self._breakers = tuple(breaker.encode() for breaker in breakers)
        self._overlap = max(map(len, self._breakers), default=1) - 1
        self._size = size
        self._min_run = min_run
        self._places: dict[int, list[int]] = {}
        self._num_seen = 0
        self._unbroken = 0
        self._tail = b""

    def look(self, token_ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(token id, length of the longest run before it) at the end of the sequence, which has only grown."""
        start = 0 if self._size is None else max(0, len(token_ids) - self._size)
        self._note_breaks(token_ids)
        for place in range(max(self._num_seen, start), len(token_ids)):
            self._places.setdefault(token_ids[place], []).append(place)
        self._num_seen = len(token_ids)
        limit = min(self._unbroken, MAX_RUN)
        if limit < self._min_run:
            return ()
        longest = self._longest_runs(token_ids, start, limit)
        return tuple((t, run) for t, run in longest.items() if run >= self._min_run and not self._breaks_alone(t))

    def _longest_runs(self, token_ids: Sequence[int], start: int, limit: int) -> dict[int, int]:
        """By the token after it, the longest earlier stretch that equals the end."""
        longest: dict[int, int] = {}
        for end in islice(reversed(self._places.get(token_ids[-1], [])), 1, None):
            if end < start:
                break
            follower = token_ids[end + 1]
            known = longest.get(follower, 0)
            if known < limit:
                longest[follower] = max(known, _common_length(token_ids, end, min(limit, end - start + 1)))
        return longest

    def _note_breaks(self, token_ids: Sequence[int]) -> None:
        """Count the tokens since the last break; of a long prompt only the end matters, and what may reach into it."""
        begin = self._num_seen or max(0, len(token_ids) - MAX_RUN - self._overlap)
        for token_id in token_ids[begin:]:
            text = self._text(token_id)
            self._unbroken = 0 if self._ends_breaker(text) else self._unbroken + 1
            seen = self._tail + text if text else b""
            self._tail = seen[max(0, len(seen) - self._overlap) :]

    def _ends_breaker(self, text: bytes) -> bool:
        """Whether a breaker ends in this text, or there is none."""
        seen, num_before = self._tail + text, len(self._tail)
        return not text or any(seen.find(b, max(0, num_before - len(b) + 1)) >= 0 for b in self._breakers)

    def _breaks_alone(self, token_id: int) -> bool:
        text = self._text(token_id)
        return not text or any(breaker in text for breaker in self._breakers)

    def _text(self, token_id: int) -> bytes:
        return self._table[token_id] if 0 <= token_id < len(self._table) else b""


def _common_length(token_ids: Sequence[int], end: int, limit: int) -> int:
    """How many tokens up to `end`, whose last is known to be equal, are those at the end of all."""
    last = len(token_ids) - 1
    length = 1
    while length < limit and token_ids[end - length] == token_ids[last - length]:
        length += 1
    return length
