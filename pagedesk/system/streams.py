"""The standard streams as a command needs them: there, and never the reason for a traceback.

A shell may have closed a stream, a pipe may end early, a disk may be full, a console may lack characters.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import threading
from pathlib import Path
from typing import NoReturn

from pagedesk.system.errors import UserError


def prepare_streams() -> None:
    """Put something in place of streams that are closed; show what an encoding lacks as `?` or escaped."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - lives as long as the program
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def is_output_error(error: OSError) -> bool:
    """Whether it tells that a stream cannot be written; errors of files carry the name of the file."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EINVAL)


def unwritable(error: OSError) -> UserError:
    """What to tell when the output cannot be written."""
    return UserError(
        f"The output could not be written ({error.strerror or error}).", "Send it to another place, or free space."
    )


def forget_output() -> None:
    """What could not be written is not tried again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


def leave(code: int) -> NoReturn:
    """End the program; at once if a thread is still in a long call of torch, in which Python would crash."""
    if any(thread is not threading.main_thread() and thread.is_alive() for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
