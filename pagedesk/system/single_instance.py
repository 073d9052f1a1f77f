"""One program at a time on a folder of chats: two would not see what the other writes in the same chat.

Any thread. The system lets go of the lock when its process ends, however that happens. A second program may ask the
first for its window: it lays down a file in the folder, and the first takes it away.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import IO

from pagedesk.system.errors import UserError
from pagedesk.system.paths import HOME_VARIABLE

_LOCK_FILE = "in-use"
_REQUEST_FILE = "show-window"
_POLL_S = 0.02


class InUseError(UserError):
    """Another PageDesk uses the folder."""


class SingleInstance:
    """The sole use of a folder, from construction to `release()`.

    Raises:
        InUseError: Another PageDesk uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _opened(folder / _LOCK_FILE)
        if self._file is not None and not _try_lock(self._file):
            self._file.close()
            raise InUseError(
                f"PageDesk is open already with the chats in {folder}.",
                f"Go on in its window; for a second one, set {HOME_VARIABLE} to another folder.",
            )

    def release(self) -> None:
        """Let another program use the folder."""
        if self._file is not None:
            self._file.close()


def ask_for_window(folder: Path, patience_s: float) -> bool:
    """Ask the program that uses a folder to show its window; False if it did not answer in time."""
    request = folder / _REQUEST_FILE
    try:
        request.touch()
        until = time.monotonic() + patience_s
        while request.exists():
            if time.monotonic() >= until:
                request.unlink(missing_ok=True)
                return False
            time.sleep(_POLL_S)
    except OSError:
        return False
    return True


def take_request(folder: Path) -> bool:
    """Whether another program has asked for the window since the last call."""
    try:
        (folder / _REQUEST_FILE).unlink()
    except OSError:
        return False
    return True


def _opened(path: Path) -> IO[bytes] | None:
    """The lock file; None where it cannot be written, which the store, opened next, has a sentence for."""
    try:
        return path.open("ab")
    except OSError:
        return None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks: better two programs than none
        return True
