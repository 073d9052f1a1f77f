"""Notices a step that does not end, and says so while it lasts.

`StepWatch` is told by the engine's thread when a step begins and ends; a daemon thread of its own looks at it once a
second. It cannot end a step: what hangs inside torch or a driver can only be waited for. Knows no models.
"""

from __future__ import annotations

import faulthandler
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pagedesk.protocol import Event, Stalled

LOOK_S = 1.0
_REPEAT_S = 5.0
_log = logging.getLogger(__name__)


class StepWatch:
    """The step under way, if there is one, and how long it has been waited for.

    Args:
        publish: Takes each event, on either thread; must not block.
    """

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._lock = threading.Lock()
        self._tell_at_s: float | None = None
        self._waited_s = 0.0
        self._is_told = False

    @contextmanager
    def step(self, patience_s: float) -> Iterator[None]:
        """A step is computed inside; after `patience_s` seconds it is told that the engine does not answer."""
        with self._lock:
            self._tell_at_s, self._waited_s = patience_s, 0.0
        try:
            yield
        finally:
            self._end()

    def look(self, passed_s: float) -> None:
        """So many seconds have passed since the last look."""
        with self._lock:
            if self._tell_at_s is None:
                return
            self._waited_s += passed_s
            if self._waited_s >= self._tell_at_s:
                self._tell()

    def _tell(self) -> None:
        if not self._is_told:
            _log.error("a step has taken %.0f s; what the threads do:\n%s", self._waited_s, stacks())
        self._is_told = True
        self._tell_at_s = self._waited_s + _REPEAT_S
        self._publish(Stalled(round(self._waited_s)))

    def _end(self) -> None:
        with self._lock:
            self._tell_at_s = None
            if self._is_told:
                self._is_told = False
                _log.warning("the step ended after about %.0f s", self._waited_s)
                self._publish(Stalled(None))


class Watchdog:
    """The thread that looks.

    Time in which this thread did not run itself (the computer slept, the program was stopped) does not count.

    Args:
        watch: What it looks at.
    """

    def __init__(self, watch: StepWatch) -> None:
        self._watch = watch
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for its end, which is at once."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        looked_s = time.monotonic()
        while not self._is_over.wait(LOOK_S):
            now_s = time.monotonic()
            self._watch.look(counted_s(now_s - looked_s))
            looked_s = now_s


def counted_s(passed_s: float) -> float:
    """How much of the time between two looks counts: in what is beyond two looks nothing ran here."""
    return min(passed_s, 2 * LOOK_S)


def stacks() -> str:
    """What every thread does now: files, lines and functions, no values."""
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        return file.read().decode(errors="replace")
