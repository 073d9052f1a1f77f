"""The log file: what the program did and every exception that nobody caught, in whatever thread.

Nothing that a user or a model wrote may be logged. A folder that cannot be written to never stops the start:
the log then goes to the standard error stream.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from typing_extensions import override

_MAX_BYTES = 1_000_000
_NUM_OLD_FILES = 3
_FORMAT = "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"
_logger = logging.getLogger("pagedesk")


class LogFile:
    """The log of this run, from construction to `close()`; one at a time.

    Args:
        folder: Where `pagedesk.log` and its predecessors are.
        level: The least level that is written.

    Attributes:
        path: The file; None if it could not be opened.
    """

    def __init__(self, folder: Path, level: int = logging.INFO) -> None:
        self.path, self._handler = _open_handler(folder / "pagedesk.log")
        self._handler.setFormatter(logging.Formatter(_FORMAT))
        self._old_level = logging.getLogger().level
        self._old_hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        logging.getLogger().addHandler(self._handler)
        logging.getLogger().setLevel(level)
        sys.excepthook = self._log_uncaught
        threading.excepthook = self._log_uncaught_in_thread
        sys.unraisablehook = self._log_unraisable

    def close(self) -> None:
        """Let go of the file and of the hooks for uncaught exceptions."""
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._old_hooks
        logging.getLogger().setLevel(self._old_level)
        logging.getLogger().removeHandler(self._handler)
        self._handler.close()

    def _log_uncaught(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            _logger.critical("uncaught exception", exc_info=(kind, error, traceback))
        self._old_hooks[0](kind, error, traceback)

    def _log_uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        # SystemExit ends a thread quietly, as in threading's own hook.
        if args.exc_value and not issubclass(args.exc_type, SystemExit):
            name = args.thread.name if args.thread else "a thread that is gone"
            _logger.critical("uncaught exception in %s", name, exc_info=args.exc_value)
        self._old_hooks[1](args)

    def _log_unraisable(self, args: sys.UnraisableHookArgs) -> None:
        _logger.error("exception ignored: %s", args.err_msg or args.object, exc_info=args.exc_value)
        self._old_hooks[2](args)


class _PrivateFileHandler(RotatingFileHandler):
    """A rotating file that its owner alone can read, also after each rotation."""

    @override
    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 - the stub's stream type is private
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT, 0o600))
        return super()._open()


def _open_handler(path: Path) -> tuple[Path | None, logging.Handler]:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _PrivateFileHandler(
            path, maxBytes=_MAX_BYTES, backupCount=_NUM_OLD_FILES, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return None, logging.StreamHandler()
    return path, handler
