"""Functions that end, raise, or never end."""

from __future__ import annotations

import itertools
import threading

import pytest

from pagedesk.engine.text.time_limit import call_within


def endless() -> None:
    for _ in itertools.count():
        pass


def test_a_function_that_ends_gives_its_result() -> None:
    assert call_within(30, lambda: 7) == 7


def test_a_function_that_raises_raises_here() -> None:
    with pytest.raises(ZeroDivisionError):
        call_within(30, lambda: 1 / 0)


def test_a_function_that_never_ends_is_left_and_its_thread_dies() -> None:
    before = set(threading.enumerate())
    with pytest.raises(TimeoutError):
        call_within(0.02, endless)
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert set(threading.enumerate()) <= before
