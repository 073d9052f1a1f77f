"""One program at a time on a folder of chats: two would not see what the other writes in the same chat.

Any thread. The system lets go of the lock when its process ends, however that happens.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from pagedesk.system.errors import UserError
from pagedesk.system.paths import HOME_VARIABLE

_LOCK_FILE = "in-use"


class SingleInstance:
    """The sole use of a folder, from construction to `release()`.

    Raises:
        UserError: Another PageDesk uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _opened(folder / _LOCK_FILE)
        if self._file is not None and not _try_lock(self._file):
            self._file.close()
            raise UserError(
                f"PageDesk is open already with the chats in {folder}.",
                f"Go on in its window; for a second one, set {HOME_VARIABLE} to another folder.",
            )

    def release(self) -> None:
        """Let another program use the folder."""
        if self._file is not None:
            self._file.close()


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
