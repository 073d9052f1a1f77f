"""One launcher at a time makes `.venv`; a second one waits for it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from launcher.console import say


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`; the system lets go of it when this process and those it started are gone."""
    with path.open("a+b") as file:
        inheritable = True
        os.set_inheritable(file.fileno(), inheritable)
        if not _try_lock(file):
            say("another launcher is making .venv: waiting for it")
            while not _try_lock(file):
                time.sleep(0.5)
        yield


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
        except OSError:
            return False
        return True
