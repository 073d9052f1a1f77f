"""Asking what may fail: drivers lie and raise whatever they like, a probe turns all of it into None."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def or_none(ask: Callable[[], T]) -> T | None:
    """What `ask` returns; None if it raises."""
    try:
        return ask()
    except Exception:  # noqa: BLE001 - a probe must survive every driver
        return None
