"""What the launcher says, and how it runs the programs that it needs."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

_HEARTBEAT_S = 15.0


def say(text: str) -> None:
    """Print a line now, also on a console that lacks some of its characters."""
    if sys.stdout is None:  # started without a console
        return
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


def run_watched(
    command: Sequence[str], environment: dict[str, str], log: Path, on_line: Callable[[str], None]
) -> tuple[int, str]:
    """Run a program, its output going to a log and line by line to `on_line`; say every 15 s that it still runs.

    Returns:
        The exit status and the output.
    """
    lines: list[str] = []
    started_at = time.monotonic()
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            env=environment,
            close_fds=False,  # it inherits the lock: should this process be killed, the next one waits for it
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        try:
            for line in _lines(process, started_at):
                file.write(line)
                lines.append(line)
                on_line(line.strip())
        except BaseException:
            process.terminate()
            raise
    return process.returncode, "".join(lines)


def _lines(process: subprocess.Popen[str], started_at: float) -> Iterator[str]:
    """The lines of a program's output as they come; silence is broken with a word."""
    pending: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    assert process.stdout is not None
    threading.Thread(target=_forward, args=(process.stdout, pending), daemon=True).start()
    while True:
        try:
            line = pending.get(timeout=_HEARTBEAT_S)
        except queue.Empty:
            say(f"    ... still at it ({time.monotonic() - started_at:.0f} s)")
            continue
        if line is None:
            return
        yield line


def _forward(source: TextIO, pending: queue.SimpleQueue[str | None]) -> None:
    for line in source:
        pending.put(line)
    pending.put(None)
