"""The whole program with an observer beside it: what a user would see, written to a file every 50 ms.

Run as a program: `python -m tests.helpers.observed_window STATE_FILE [window options]`. Keys and clicks come from the X
server; what they cannot do quickly is wished for in a file beside STATE_FILE: a model, as if chosen in the file
dialog, or words on the clipboard. Nothing else is touched.
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from pagedesk import app
from pagedesk.ui.options import parse_options
from tests.helpers.driven_window import wish_file

INTERVAL_MS = 50


def main(state_file: Path, arguments: list[str]) -> int:
    """Run the program to its end; the exit code is 0 if the engine's thread and all others ended."""
    application = app.build(parse_options(arguments))
    timer = QTimer(interval=INTERVAL_MS)
    timer.timeout.connect(lambda: _fulfil(application, wish_file(state_file)))
    timer.timeout.connect(lambda: _write(state_file, observe(application)))
    timer.start()
    application.run()
    application.close()
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    _write(state_file, {"ended": application.has_ended, "threads": others})
    return 0


def observe(application: app.Application) -> dict[str, Any]:
    """Panes, gauge and engine as they are now."""
    window, state = application.window, application.state
    return {
        "phase": state.status.phase.value,
        "model": state.model.name if state.model else None,
        "is_active": window.isActiveWindow(),
        "notice": window.notice.accessibleName() if window.notice.isVisible() else "",
        "panes": [_observe_pane(pane) for pane in window.panes.panes],
        "figures": window.gauge.figures() if state.pool else None,
        "pool": _pool_numbers(state.pool) if state.pool else None,
    }


def _fulfil(application: app.Application, path: Path) -> None:
    if not path.exists():
        return
    wish = json.loads(path.read_text(encoding="utf-8"))
    if "model" in wish:
        application.window.top_bar.picker.path_chosen.emit(Path(wish["model"]))
    else:
        QGuiApplication.clipboard().setText(wish["clipboard"])
    path.unlink()


def _observe_pane(pane: Any) -> dict[str, Any]:
    messages = pane.conversation.messages
    return {
        "chat_id": pane.conversation.chat_id,
        "activity": pane.conversation.activity.name,
        "composer": _centre(pane.composer.edit),
        "button": _centre(pane.composer.button),
        "draft": pane.composer.edit.toPlainText(),
        "messages": [[m.role.value, m.state.name, m.text, m.error] for m in messages],
    }


def _pool_numbers(pool: Any) -> dict[str, int]:
    names = ("num_blocks", "num_owned", "num_shared", "num_cached", "num_free", "saved_bytes", "block_bytes")
    numbers = {name: getattr(pool, name) for name in (*names, "num_running", "num_waiting", "num_copied_blocks")}
    memory = pool.memory
    return {**numbers, "weights_bytes": memory.weights_bytes, "workspace_bytes": memory.workspace_bytes}


def _centre(widget: QWidget) -> list[int]:
    point = widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    return [point.x(), point.y()]


def _write(path: Path, state: dict[str, Any]) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(state), encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
