"""Texts that end an answer: found as the answer grows, and never shown in part.

Engine thread only. Pure text; it knows no tokens, so how a text is cut into pieces changes nothing: the stop that is
complete first counts, and of several that are complete with the same letter the longest.
"""

from __future__ import annotations

from collections.abc import Sequence


class StopStrings:
    """The end of one answer's text, as long as it may be the beginning of a stop.

    Args:
        stops: The texts, none empty.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._initials = frozenset(stop[0] for stop in stops)
        self._longest = max(map(len, stops), default=0)
        self._held = ""

    def add(self, text: str) -> tuple[str, bool]:
        """Take in more text.

        Returns:
            What may be shown now, and whether a stop is complete; it and all after it are dropped.
        """
        text = self._held + text
        found = [(place + len(stop), place) for stop in self._stops if (place := text.find(stop)) >= 0]
        place = min(found)[1] if found else self._partial(text)
        self._held = "" if found else text[place:]
        return text[:place], bool(found)

    def flush(self) -> str:
        """What is held back, at the end of the answer."""
        held, self._held = self._held, ""
        return held

    def _partial(self, text: str) -> int:
        """Where the longest beginning of a stop starts that this text ends with; its length if there is none."""
        for place in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[place] in self._initials and any(stop.startswith(text[place:]) for stop in self._stops):
                return place
        return len(text)
