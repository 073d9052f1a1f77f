"""Options that are numbers, checked as they are read."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """An integer of at least 1."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def share(text: str) -> float:
    """A number above 0, at most 1."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{value:g} is not above 0 and at most 1")
    return value


def sizes(text: str) -> list[int]:
    """Integers of at least 1, between commas."""
    return [positive(part) for part in text.split(",")]
