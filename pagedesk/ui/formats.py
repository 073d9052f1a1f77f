"""How numbers, sizes and times are written in the window.

Thousands with a comma, a space before units; file sizes are decimal as on the Hub.
"""

from __future__ import annotations

import re
import time

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

_LONG_WORD = re.compile(r"\S{32}(?=\S)")
_ZERO_WIDTH_SPACE = "\u200b"
_MAX_NAME = 60


def count(number: int) -> str:
    """For instance "2,112"."""
    return f"{number:,}"


def file_size(size_bytes: int) -> str:
    """For instance "4.9 GB" or "98 MB", decimal."""
    if size_bytes >= 10**9:
        return f"{size_bytes / 10**9:.1f} GB"
    return f"{size_bytes / 10**6:.0f} MB"


def speed(tokens_per_s: float) -> str:
    """For instance "72.0 tok/s"."""
    return f"{tokens_per_s:.1f} tok/s"


def breakable(text: str) -> str:
    """The text with places to break a line inside words that no line may hold, such as the path of a file."""
    return _LONG_WORD.sub(f"\\g<0>{_ZERO_WIDTH_SPACE}", text)


def shortened(name: str) -> str:
    """A name of 60 characters at most, cut in its middle: the end tells files apart as the beginning does."""
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME // 2]}\u2026{name[1 - _MAX_NAME // 2 :]}"


def age(since: float, now: float | None = None) -> str:
    """How long ago a moment was, in words; moments are seconds since the epoch."""
    minutes = int(((time.time() if now is None else now) - since) // 60)
    if minutes < 1:
        return QCoreApplication.translate("formats", "just now")
    if minutes < 60:
        return QCoreApplication.translate("formats", "{minutes} min ago").format(minutes=minutes)
    return day(since, now)


def day(moment: float, now: float | None = None) -> str:
    """The shortest name of a moment: "14:32" today, "Tue" this week, else "23 Nov"."""
    then = QDateTime.fromSecsSinceEpoch(int(moment))
    today = QDateTime.fromSecsSinceEpoch(int(time.time() if now is None else now))
    days = then.date().daysTo(today.date())
    form = "HH:mm" if days <= 0 else "ddd" if days < 7 else "d MMM"
    return QLocale().toString(then, form)
