"""The composition root: the only place that builds the parts of the program and joins them.

GUI thread. Imports no torch: the engine thread does, and it starts when the window has been painted.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QApplication, QMessageBox

from pagedesk.bridge import EngineBridge, EngineLike
from pagedesk.chats.store import ChatStore
from pagedesk.engine.thread import EngineThread
from pagedesk.protocol import Event, ModelReady
from pagedesk.system.errors import UserError
from pagedesk.system.logs import LogFile
from pagedesk.system.paths import data_dir, database_path, log_dir, remembered_path
from pagedesk.system.remembered import Remembered, read_remembered, write_remembered
from pagedesk.system.single_instance import InUseError, SingleInstance, ask_for_window
from pagedesk.system.starter import starter_model_path
from pagedesk.ui.chat.controller import ChatController
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.icons import application_icon
from pagedesk.ui.main_window import MainWindow
from pagedesk.ui.options import WindowOptions
from pagedesk.ui.quit_signals import QuitSignals
from pagedesk.ui.second_start import SecondStart
from pagedesk.ui.startup_report import StartupReport
from pagedesk.ui.style import apply_theme, system_scheme
from pagedesk.ui.theme import Scheme, Theme

STOP_TIMEOUT_S = 3.0
ANSWER_TIMEOUT_S = 5.0
"""How long a second start waits for the first to answer: as long as its start may take."""

_logger = logging.getLogger(__name__)

EngineMaker = Callable[[Callable[[Event], None]], EngineLike]


class Application:
    """The parts of a running program, joined.

    Attributes:
        has_ended: After `close`: whether the engine's thread ended in time.
    """

    def __init__(self, options: WindowOptions, make_engine: EngineMaker) -> None:
        self._options = options
        self._qt = _qt_application()
        self._instance = SingleInstance(data_dir())
        self.store = ChatStore(database_path())
        self.bridge = EngineBridge(make_engine)
        self.state = EngineState(self.bridge, options.dtype, starter_model_path())
        self.controller = ChatController(self.store, self.bridge)
        self.window = MainWindow(self._dress(), self.state, self.controller)
        self.has_ended = True
        self._is_closed = False
        self._signals: QuitSignals | None = None
        self._second_start: SecondStart | None = None
        self._remembered = read_remembered(remembered_path())
        self.window.restoreGeometry(self._remembered.geometry)  # Qt finds a screen for it if its own is gone
        self._load_model()
        self._open_chats()
        self.window.panes.panes_changed.connect(self._remember_panes)
        self.bridge.model_ready.connect(self._remember_model)
        self._remember_panes()
        if options.startup_report:
            self._report(StartupReport())
        self.window.painted.connect(self.bridge.start)
        self._tell_of_recovery()
        self._qt.styleHints().colorSchemeChanged.connect(self._redress)

    def run(self) -> None:
        """Show the window until the user closes it."""
        self._signals = QuitSignals(self.window.close)
        self._second_start = SecondStart(data_dir())
        self._second_start.noticed.connect(self.window.come_forward)
        self.window.show()
        self.window.activateWindow()
        self._second_start.look()
        self._qt.exec()

    def close(self) -> None:
        """End the engine, save what was written, let go of the store."""
        if self._is_closed:
            return
        self._is_closed = True
        self._remember_window()
        self.window.hide()
        self.has_ended = self.bridge.stop(STOP_TIMEOUT_S)
        self.store.be_patient()
        self.controller.flush()
        self.store.close()
        self._instance.release()
        if self._second_start is not None:
            self._second_start.end()
        if self._signals is not None:
            self._signals.restore()

    def _dress(self) -> Theme:
        theme = Theme(Scheme(self._options.scheme) if self._options.scheme else system_scheme())
        apply_theme(self._qt, theme)
        return theme

    def _redress(self) -> None:
        """The desktop changed between light and dark."""
        self.window.set_theme(self._dress())

    def _open_chats(self) -> None:
        """Open what was open at the last end; at the very first start two fresh chats, side by side."""
        known = {chat.chat_id for chat in self.controller.chats()}
        wanted = [chat_id for chat_id in self.store.open_panes() if chat_id in known]
        for chat_id in known - set(wanted):
            self.controller.discard_if_blank(chat_id)
        newest = [chat.chat_id for chat in self.controller.chats()][:1]
        fresh = [] if wanted or newest else [self.controller.new_chat(), self.controller.new_chat()]
        chats = wanted or newest or [chat_id for chat_id in fresh if chat_id is not None]
        self.window.open_chats(chats, self._remembered.pane_index)

    def _remember_panes(self) -> None:
        self.controller.remember_panes(self.window.panes.open_chats)
        self._remember_window()

    def _remember_window(self) -> None:
        panes = self.window.panes
        pane_index = panes.panes.index(panes.focused) if panes.focused is not None else 0
        self._remember(
            replace(self._remembered, geometry=bytes(self.window.saveGeometry().data()), pane_index=pane_index)
        )

    def _remember_model(self, event: ModelReady) -> None:
        path = Path(event.model.path)
        self._remember(replace(self._remembered, model=None if path == self.state.starter else path))

    def _remember(self, remembered: Remembered) -> None:
        if remembered != self._remembered:
            self._remembered = remembered
            write_remembered(remembered_path(), remembered)

    def _load_model(self) -> None:
        """The model that was asked for, or the one in use last, or the one that came with the program."""
        last = self._remembered.model
        if self._options.model is None and last is not None and not last.exists():
            self.window.tell_of_missing_model(last)
            last = None
        path = self._options.model or last or self.state.starter
        if path is not None:
            self.state.load(Path(path).absolute())

    def _tell_of_recovery(self) -> None:
        """The file of the chats was damaged: say where it is now."""
        if self.store.recovery is not None:
            self.window.tell_of_recovery(self.store.recovery)

    def _report(self, report: StartupReport) -> None:
        self.window.painted.connect(lambda: report.note("first paint"))
        self.bridge.model_ready.connect(lambda: report.note("engine ready"))


def build(options: WindowOptions, make_engine: EngineMaker = EngineThread) -> Application:
    """Build and join everything; nothing is shown and no engine runs yet.

    Raises:
        UserError: The folder of the chats or the chats themselves cannot be opened, or another PageDesk uses them.
    """
    return Application(options, make_engine)


def main(options: WindowOptions) -> int:
    """Run the program with its window; returns the exit code."""
    _qt_application()
    try:
        with closing(LogFile(log_dir())):
            has_ended = _run(options)
    except InUseError as error:
        return _show_the_other(error, options)
    except UserError as error:
        return _refuse(error)
    if not has_ended:
        # A thread inside a long call of torch cannot be ended, and Python would wait for it or crash in it.
        os._exit(0)
    return 0


def _run(options: WindowOptions) -> bool:
    """From the start to the end; whether the engine's thread ended in time."""
    try:
        application = build(options)
    except InUseError:
        raise
    except UserError:
        _logger.exception("the program cannot start")
        raise
    application.run()
    application.close()
    return application.has_ended


def _show_the_other(error: InUseError, options: WindowOptions) -> int:
    """Let the program that is open already come to the front, and say so; refuse if it does not answer."""
    if not ask_for_window(data_dir(), ANSWER_TIMEOUT_S):
        return _refuse(error)
    sys.stdout.write("PageDesk is open already: its window comes to the front.\n")
    if options.model is not None:
        sys.stdout.write(f"{options.model} was not loaded; open it with the model button of that window.\n")
    return 0


def _refuse(error: UserError) -> int:
    """Say why the program cannot start, where the user looks: in a window of its own, and in the terminal."""
    sys.stderr.write(f"{error}\n")
    QMessageBox.critical(None, "PageDesk", str(error))
    return 1


def _qt_application() -> QApplication:
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication([])
    application.setApplicationName("pagedesk")
    application.setApplicationDisplayName("PageDesk")
    application.setDesktopFileName("pagedesk")
    application.setWindowIcon(application_icon())
    return application
