"""Wait for a condition instead of for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_S = 0.02


def wait_for(condition: Callable[[], T], what: str, timeout_s: float = 60.0) -> T:
    """The first true value of `condition`.

    Raises:
        TimeoutError: it stayed false; says `what` was awaited.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(POLL_S)
    raise TimeoutError(f"waited {timeout_s:g} s for {what}")
