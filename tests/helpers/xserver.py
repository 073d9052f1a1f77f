"""A real X server without a screen, and the hands of a user on it: xdotool for keys and mouse, import for pictures."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("Xvfb", "xdotool", "import")


@dataclass(frozen=True)
class XServer:
    """A running X server; `display` goes into DISPLAY."""

    display: str

    def environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}

    def click(self, x: int, y: int) -> None:
        self._xdotool("mousemove", str(x), str(y), "click", "1")

    def type(self, text: str) -> None:
        self._xdotool("type", "--delay", "8", text)

    def key(self, *names: str) -> None:
        self._xdotool("key", *names)

    def screenshot(self, path: Path) -> None:
        subprocess.run(["import", "-window", "root", "-depth", "8", str(path)], env=self.environment(), check=True)

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self.environment(), check=True, capture_output=True)


@contextmanager
def x_server(width: int = 1600, height: int = 1000) -> Iterator[XServer]:
    """Start Xvfb on a free display and stop it afterwards.

    Raises:
        RuntimeError: a program is missing; the test command of the README installs it.
    """
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        raise RuntimeError(f"missing programs: {', '.join(missing)}; packaging/launch.py test installs them")
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        yield XServer(f":{number}")
    finally:
        server.terminate()
        server.wait(timeout=10)
