"""Runs a function that may never end, for so long and no longer.

Any thread may call. The function runs in a helper thread, into which an exception is raised when the time is up, so it
ends at its next Python instruction; one long call into C cannot be cut short.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from typing_extensions import override

T = TypeVar("T")


class _TimeIsUp(BaseException):
    """Raised inside the helper thread; no handler for ordinary errors catches it."""


class _Call(threading.Thread, Generic[T]):
    def __init__(self, function: Callable[[], T]) -> None:
        super().__init__(name="time-limited call", daemon=True)
        self._function = function
        self._lock = threading.Lock()
        self._is_done = False
        self.results: list[T] = []
        self.error: Exception | None = None

    @override
    def run(self) -> None:
        try:
            self._try()
            with self._lock:
                self._is_done = True
        except _TimeIsUp:
            pass

    def _try(self) -> None:
        try:
            self.results.append(self._function())
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is wanted
            self.error = error

    def stop(self) -> None:
        """Raise inside the thread, unless it is past everything that could be interrupted."""
        with self._lock:
            if not self._is_done and self.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_TimeIsUp))


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """The function's result.

    Raises:
        TimeoutError: It took longer.
        Exception: Whatever the function raises.
    """
    call = _Call(function)
    call.start()
    call.join(seconds)
    if call.is_alive():
        call.stop()
        raise TimeoutError(f"no end after {seconds:g} s")
    if call.error is not None:
        raise call.error
    return call.results[0]
