"""The program under test in a process of its own, on a real X server: start it, look at it, wait for what it shows."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.waiting import wait_for
from tests.helpers.xserver import XServer

ROOT = Path(__file__).resolve().parents[2]


class DrivenWindow:
    """One run of the program; a context manager that kills it if the test did not close it."""

    def __init__(self, server: XServer, folder: Path, *arguments: str) -> None:
        self.server = server
        self._state_file = folder / "state.json"
        self._state_file.unlink(missing_ok=True)
        self._log = (folder / "output.txt").open("a")
        self._environment = server.environment() | {
            "PAGEDESK_HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "kernels")]),
        }
        command = [sys.executable, "-m", "tests.helpers.observed_window", str(self._state_file), *arguments]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=self._log, stderr=self._log)

    def __enter__(self) -> "DrivenWindow":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self._log.close()

    def state(self) -> dict[str, Any]:
        """What the window shows, at most 50 ms old; empty before the first look."""
        try:
            return json.loads(self._state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}

    def wait(self, condition: Callable[[dict[str, Any]], Any], what: str, timeout_s: float = 90.0) -> dict[str, Any]:
        """The first state for which `condition` holds.

        Raises:
            TimeoutError: it never did, or the program ended.
        """

        def look() -> dict[str, Any] | None:
            if self.process.poll() is not None:
                raise TimeoutError(f"the program ended with {self.process.returncode} while waiting for {what}")
            state = self.state()
            return state if state and condition(state) else None

        return wait_for(look, what, timeout_s)

    def wait_until_ready(self) -> dict[str, Any]:
        """Wait until a model is loaded and the panes stand where they are drawn."""
        return self.wait(lambda state: state["phase"] == "ready" and state["model"], "a model to be loaded")

    def write_in(self, pane_index: int, text: str) -> None:
        """Click into a pane's composer, type, and press Return."""
        self.server.click(*self.state()["panes"][pane_index]["composer"])
        self.server.type(text)
        self._send(pane_index, text)

    def paste_in(self, pane_index: int, text: str) -> None:
        """Click into a pane's composer, paste, and press Return."""
        self._wish("clipboard", text)
        self.server.click(*self.state()["panes"][pane_index]["composer"])
        self.server.key("ctrl+v")
        self._send(pane_index, text)

    def choose_model(self, path: Path) -> None:
        """Load a model as if it was chosen in the file dialog."""
        self._wish("model", str(path))

    def start_again(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Start the program once more on the same chats, and wait for its end."""
        command = [sys.executable, "-m", "pagedesk", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self._environment, check=False, capture_output=True, text=True, timeout=60
        )

    def press_button(self, pane_index: int) -> None:
        """Click the send or stop button of a pane."""
        self.server.click(*self.state()["panes"][pane_index]["button"])

    def kill(self) -> None:
        """End the program as `kill -9` does."""
        self.process.kill()
        self.process.wait(timeout=10)

    def close(self) -> int:
        """Quit with the keyboard; the exit code.

        Raises:
            TimeoutError: it did not end within 10 s.
        """
        self.server.key("ctrl+q")
        return wait_for(lambda: [code] if (code := self.process.poll()) is not None else None, "the end", 10)[0]

    def _send(self, pane_index: int, text: str) -> None:
        self.wait(lambda state: state["panes"][pane_index]["draft"] == text, f"{text[:80]!r} to stand in the composer")
        self.server.key("Return")

    def _wish(self, kind: str, value: str) -> None:
        path = wish_file(self._state_file)
        temporary = path.with_suffix(".new_wish")
        temporary.write_text(json.dumps({kind: value}), encoding="utf-8")
        temporary.replace(path)
        self.wait(lambda _state: not path.exists(), f"the {kind} to be taken")


def wish_file(state_file: Path) -> Path:
    """Where a wish is written, as a JSON object of its kind and its value; gone once it is fulfilled."""
    return state_file.with_suffix(".wish")


def reply_of(pane: dict[str, Any]) -> str:
    """The text of the newest message of a pane, if it is a reply."""
    role, _state, text, _error = pane["messages"][-1] if pane["messages"] else ("", "", "", "")
    return text if role == "assistant" else ""
