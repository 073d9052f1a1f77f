"""The window for tests: real store in a temporary folder, real bridge, an engine that does what the test says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent

from pagedesk import app
from pagedesk.app import EngineMaker
from pagedesk.protocol import EnginePhase, EngineStatus, Event, LoadFailed
from pagedesk.ui.options import WindowOptions
from tests.helpers.fake_engine import ScriptedEngine

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform has no window manager to tell sizes to, and says so for every window."""
    for item in items:
        if "ui" in item.path.parts:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"))


class Desk:
    """A running window and the engine behind it."""

    def __init__(self, make_engine: EngineMaker = ScriptedEngine, model: Path | None = None) -> None:
        self.engines: list[ScriptedEngine] = []
        options = WindowOptions(model, scheme="dark")
        self.application = app.build(options, lambda publish: self._keep(make_engine(publish)))
        self.window = self.application.window
        self.controller = self.application.controller

    @property
    def engine(self) -> ScriptedEngine:
        return self.engines[0]

    def say(self, *events: Event) -> None:
        """The engine says something, and the bridge delivers it."""
        for event in events:
            self.engine.publish(event)
        self.application.bridge.deliver()

    def choose(self, path: str | Path) -> None:
        """Choose a model in the picker."""
        self.window.top_bar.picker.path_chosen.emit(Path(path))

    def fail_to_load(self, failure: LoadFailed) -> None:
        """A model is chosen, and does not load."""
        self.choose(failure.path)
        self.say(failure, EngineStatus(EnginePhase.EMPTY))

    def pane(self, index: int = 0):
        return self.window.panes.panes[index]

    def ask(self, text: str, pane_index: int = 0) -> str:
        """Send a message from a pane; returns the id of its request."""
        self.pane(pane_index).composer.edit.setPlainText(text)
        self.pane(pane_index).composer.edit.entered.emit()
        return self.engine.submits()[-1].request_id

    def _keep(self, engine):
        self.engines.append(engine)
        return engine


@pytest.fixture
def open_desk(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Desk]]:
    """Opens the program; what is still open at the end is closed."""
    monkeypatch.setenv("PAGEDESK_HOME", str(tmp_path))
    opened: list[Desk] = []

    def open_(
        make_engine: EngineMaker = ScriptedEngine,
        size: tuple[int, int] | None = (1600, 1000),
        model: Path | None = None,
    ) -> Desk:
        opened.append(Desk(make_engine, model))
        if size is not None:
            opened[-1].window.resize(*size)
        opened[-1].window.show()
        qapp.processEvents()
        return opened[-1]

    yield open_
    for desk in opened:
        desk.application.close()
        desk.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk()
