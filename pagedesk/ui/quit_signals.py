"""Ctrl+C in the terminal, its end, and a polite kill close the window as its button does, so that everything is saved.

GUI thread. Python handles a signal only while it runs, and an idle window runs none: a socket wakes it.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class QuitSignals(QObject):
    """Calls `quit_` once for SIGINT, SIGTERM or SIGHUP, until `restore()`; what is ignored (`nohup`) stays so."""

    def __init__(self, quit_: Callable[[], object]) -> None:
        super().__init__()
        self._reader, self._writer = socket.socketpair()
        self._writer.settimeout(0)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(lambda: self._on_signal(quit_))
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        wanted = [number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP")]
        numbers = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
        self._old_handlers = {number: signal.signal(number, _do_nothing) for number in numbers}

    def restore(self) -> None:
        """Give the signals back."""
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _on_signal(self, quit_: Callable[[], object]) -> None:
        self._notifier.setEnabled(False)
        quit_()


def _do_nothing(_number: int, _frame: object) -> None:
    """A handler must exist for the socket to be written to."""
