"""Which tokens would go on repeating what a sequence said before: the search of DRY. Engine thread; stdlib only.

DRY ("don't repeat yourself", p-e-w, text-generation-webui 2024): where the end of a text equals an earlier stretch of
it, the token that followed the stretch is made less likely, the more so the longer the stretch.
"""

from __future__ import annotations

from collections.abc import Sequence

MAX_RUN = 50
"""Longer runs count as this long: the penalty grows exponentially, and is beyond any score by then."""
_MAX_GRAM = 4


class RepeatedRuns:
    """Follows one sequence; a step costs as much as its last few tokens have earlier places.

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
        self._gram_size = min(min_run, _MAX_GRAM)
        self._newest_end: dict[tuple[int, ...], int] = {}
        self._earlier_end: list[int | None] = []
        self._num_seen = 0
        self._unbroken = 0
        self._tail = b""

    def look(self, token_ids: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(token id, length of the longest run before it) at the end of the sequence, which has only grown."""
        start = 0 if self._size is None else max(0, len(token_ids) - self._size)
        self._note_breaks(token_ids)
        self._note_grams(token_ids, max(self._num_seen, start))
        self._num_seen = len(token_ids)
        limit = min(self._unbroken, MAX_RUN)
        if limit < self._min_run:
            return ()
        longest = self._longest_runs(token_ids, start, limit)
        return tuple((t, run) for t, run in longest.items() if run >= self._min_run and not self._breaks_alone(t))

    def _longest_runs(self, token_ids: Sequence[int], start: int, limit: int) -> dict[int, int]:
        """By the token after it, the longest earlier stretch that equals the end."""
        longest: dict[int, int] = {}
        end = self._earlier_end[-1]
        while end is not None and end - start + 1 >= self._gram_size:
            follower = token_ids[end + 1]
            known = longest.get(follower, 0)
            if known < limit:
                length = _common_length(token_ids, end, self._gram_size, min(limit, end - start + 1))
                longest[follower] = max(known, length)
            end = self._earlier_end[end]
        return longest

    def _note_grams(self, token_ids: Sequence[int], first_end: int) -> None:
        """Link the places where the same few tokens in a row end: a run must have them to be reported."""
        size = self._gram_size
        begin = max(0, first_end - size + 1)
        grams = zip(*(token_ids[begin + offset :] for offset in range(size)), strict=False)
        self._earlier_end += [None] * (len(token_ids) - len(self._earlier_end))
        for end, gram in enumerate(grams, begin + size - 1):
            self._earlier_end[end] = self._newest_end.get(gram)
            self._newest_end[gram] = end

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


def _common_length(token_ids: Sequence[int], end: int, known: int, limit: int) -> int:
    """How many tokens up to `end` are those at the end of all; `known` of them are."""
    last = len(token_ids) - 1
    length = known
    while length < limit and token_ids[end - length] == token_ids[last - length]:
        length += 1
    return length
