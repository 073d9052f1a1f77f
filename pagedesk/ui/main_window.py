"""The window: top bar, chats, panes, gauge and status line, put together.

GUI thread. It arranges and connects; what happens to chats is decided by the controller.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QSplitter, QStyle, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.chats.models import Recovery
from pagedesk.protocol import LoadFailed
from pagedesk.ui.actions import WindowActions
from pagedesk.ui.arrangement import SidebarForm, arrange
from pagedesk.ui.centre import Centre
from pagedesk.ui.chat.chat_list import ChatListModel
from pagedesk.ui.chat.chat_rail import ChatRail
from pagedesk.ui.chat.controller import ChatController
from pagedesk.ui.chat.pane_area import PaneArea
from pagedesk.ui.chat.pane_tabs import PaneTabs
from pagedesk.ui.chat.sidebar import Sidebar
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.formats import count, shortened
from pagedesk.ui.gauge.compact_gauge import CompactGauge
from pagedesk.ui.gauge.panel import GaugePanel
from pagedesk.ui.icons import application_icon
from pagedesk.ui.notice import Notice
from pagedesk.ui.side_panel import SidePanel
from pagedesk.ui.status_line import StatusLine
from pagedesk.ui.switch_dialog import SwitchDialog
from pagedesk.ui.tab_order import neighbour, tab_stops
from pagedesk.ui.theme import Theme, tokens
from pagedesk.ui.top_bar import TopBar

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent


class MainWindow(QMainWindow):
    """Everything that the user sees.

    Signals:
        painted: It was painted for the first time, with everything in it.
    """

    painted = Signal()

    def __init__(self, theme: Theme, state: EngineState, controller: ChatController) -> None:
        super().__init__()
        self._state = state
        self._controller = controller
        self._was_painted = False
        self._told_failure: LoadFailed | None = None
        self._told_stall = False
        self.actions_ = WindowActions(self)
        self.chat_list = ChatListModel(controller)
        self.top_bar = TopBar(theme, state, self.actions_.sidebar, self.actions_.gauge)
        self.sidebar = Sidebar(theme, self.chat_list)
        self.rail = ChatRail(theme, self.chat_list)
        self.notice = Notice(theme)
        self.tabs = PaneTabs(theme)
        self.panes = PaneArea(theme, state, controller)
        self.gauge = GaugePanel(theme)
        self.compact = CompactGauge(theme)
        self.status = StatusLine(theme, state)
        self.setWindowTitle("PageDesk")
        self.setWindowIcon(application_icon())
        self._lay_out()
        self._connect()
        self._connect_actions()
        self._name_chats()

    def open_chats(self, chat_ids: list[str], focused: int = 0) -> None:
        """Open these chats side by side; the pane `focused`, or else the last one, takes the keyboard."""
        for chat_id in chat_ids:
            self.panes.show_beside(chat_id)
        self.panes.focus(min(focused, len(chat_ids) - 1))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        chats = (self.sidebar, self.rail, self.tabs, self.panes)
        for part in (self.top_bar, *chats, self.notice, self.gauge, self.compact, self.status):
            part.set_theme(theme)

    def come_forward(self) -> None:
        """Come to the front and take the keyboard, from the task bar too."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_problem(self, title: str, cause: str, advice: str) -> None:
        """Say that something went wrong that is not of one chat alone."""
        self.notice.show_problem(title, cause, advice, offers_models=False, has_starter=False)

    def tell_of_recovery(self, recovery: Recovery) -> None:
        """Say that the file of the chats was damaged, what could be read of it, and where it is now."""
        if recovery.num_messages:
            cause = self.tr("PageDesk began a new one with the {n} messages that could be read.")
        else:
            cause = self.tr("It could not be read, so PageDesk began a new one.")
        self.show_problem(
            self.tr("The file of the chats was damaged"),
            cause.format(n=count(recovery.num_messages)),
            self.tr("The old file is kept as {path}.").format(path=recovery.moved_to),
        )

    def tell_of_missing_model(self, path: Path) -> None:
        """Say that the model that was in use last is gone, and that the starter model takes its place."""
        title = self.tr("{name} was not found").format(name=shortened(path.name))
        cause = self.tr("It was in use last and is no longer at {path}, so the starter model is loaded.")
        advice = self.tr("If it has moved, choose it again.")
        self.notice.show_problem(title, cause.format(path=path), advice, offers_models=True, has_starter=False)

    def _lay_out(self) -> None:
        sizes = tokens()["size"]
        room = self._room()
        self.resize(QSize(*sizes["window_default"]).boundedTo(room))
        self.setMinimumSize(QSize(*sizes["window_min"]).boundedTo(room))
        whole = QWidget()
        self._splitter = QSplitter(Qt.Orientation.Horizontal, whole)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        for index, part in enumerate((self.sidebar, Centre(self.notice, self.tabs, self.panes), self.gauge)):
            self._splitter.addWidget(part)
            self._splitter.setStretchFactor(index, int(index == 1))
        sidebar, gauge = sizes["sidebar"]["default"], sizes["gauge_panel"]["default"]
        self._splitter.setSizes([sidebar, self.width() - sidebar - gauge - 2, gauge])
        column = _column(whole)
        column.addWidget(self.top_bar)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(self._splitter, 1)
        column.addLayout(middle, 1)
        bottom = QHBoxLayout()
        bottom.setSpacing(0)
        bottom.addWidget(self.status, 1)
        bottom.addWidget(self.compact)
        column.addLayout(bottom)
        self.setCentralWidget(whole)
        self._chats_side = SidePanel(self.sidebar, self._splitter, whole, self.actions_.sidebar, sidebar)
        self._gauge_side = SidePanel(self.gauge, self._splitter, whole, self.actions_.gauge, gauge)

    def _room(self) -> QSize:
        """What the screen leaves for the window inside its frame: the composer must not begin below its edge."""
        title_bar = self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
        return self.screen().availableGeometry().size() - QSize(0, title_bar)

    def _connect(self) -> None:
        self.top_bar.picker.path_chosen.connect(self._choose_model)
        for chats in (self.sidebar, self.rail):
            chats.chosen.connect(self.panes.show_chat)
            chats.chosen_beside.connect(self.panes.show_beside)
            chats.new_asked.connect(self._new_chat)
        self.sidebar.search.left.connect(self._on_escape_from_search)
        self.tabs.chosen.connect(self.panes.focus)
        for side in (self._chats_side, self._gauge_side):
            side.asked.connect(self._fit)
        self.gauge.chat_chosen.connect(self._gauge_side.uncover)
        self.compact.clicked.connect(self._gauge_side.open)
        self.panes.panes_changed.connect(self._on_panes)
        self.notice.open_asked.connect(self.top_bar.picker.open_file)
        self.notice.starter_asked.connect(self._load_starter)
        self.notice.dismissed.connect(self._dismiss)
        self.gauge.chat_chosen.connect(self.panes.show_chat)
        self._controller.chats_changed.connect(self._name_chats)
        self._controller.store_failed.connect(self._on_store_failed)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)
        self._controller.store_recovered.connect(self.tell_of_recovery)
        self._state.changed.connect(self._on_engine)
        self._state.pool_changed.connect(self._on_pool)

    def _connect_actions(self) -> None:
        actions = self.actions_
        actions.new_chat.triggered.connect(self._new_chat)
        actions.split.triggered.connect(self._split)
        actions.close_pane.triggered.connect(self._close_pane)
        actions.search.triggered.connect(self._search)
        actions.stop.triggered.connect(self._on_escape)
        actions.sidebar.triggered.connect(self._after_sidebar_key)
        actions.next_part.triggered.connect(lambda: self._go_on(1))
        actions.previous_part.triggered.connect(lambda: self._go_on(-1))
        actions.quit.triggered.connect(self.close)
        actions.add_pane_keys(self.panes.focus)

    def _new_chat(self) -> None:
        """A fresh chat in the pane in use; if that is still blank, it is the fresh chat."""
        pane = self.panes.focused
        if pane is not None and pane.conversation.is_blank:
            pane.focus_composer()
        else:
            self._open_new(self.panes.show_chat)

    def _split(self) -> None:
        self._open_new(self.panes.show_beside)

    def _open_new(self, show: Callable[[str], None]) -> None:
        if (chat_id := self._controller.new_chat()) is not None:
            show(chat_id)

    def _close_pane(self) -> None:
        if self.panes.focused is not None:
            self.panes.close_pane(self.panes.focused)

    def _search(self) -> None:
        self._chats_side.open()
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    def _after_sidebar_key(self) -> None:
        """A list that lies over the panes has the keyboard, so that it goes when the keyboard goes back to a pane."""
        if self._chats_side.is_over:
            self.sidebar.list.setFocus(Qt.FocusReason.OtherFocusReason)
        elif not self.sidebar.isVisible():
            self._enter_panes()

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.panes.isAncestorOf(new):
            self._chats_side.uncover()

    def _on_escape_from_search(self) -> None:
        self._chats_side.uncover()
        self._enter_panes()

    def _on_escape(self) -> None:
        """What lies over the panes goes first; then a reply stops."""
        covers = [side.uncover() for side in (self._chats_side, self._gauge_side)]
        if any(covers):
            self._enter_panes()
        else:
            self._stop()

    def _enter_panes(self) -> None:
        if self.panes.focused is not None:
            self.panes.focused.focus_composer()

    def _stop(self) -> None:
        if self.panes.focused is not None:
            self._controller.stop(self.panes.focused.conversation.chat_id)

    def _go_on(self, step: int) -> None:
        """Sidebar, panes, gauge, and around."""
        chats = self.sidebar if self.sidebar.isVisible() else self.rail
        parts = [part for part in (chats, self.panes, self.gauge) if part.isVisible()]
        here = [i for i, part in enumerate(parts) if part.isAncestorOf(self.focusWidget())]
        part = parts[((here[0] if here else 0) + step) % len(parts)]
        if part is self.panes:
            self._enter_panes()
        elif part is chats:
            chats.list.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            next(iter(tab_stops([part])), part).setFocus(Qt.FocusReason.TabFocusReason)

    def _load_starter(self) -> None:
        if self._state.starter is not None:
            self._choose_model(self._state.starter)

    def _choose_model(self, path: Path) -> None:
        """Load another model; if that ends replies under way, only after the user agreed."""
        if self._state.model is None or not self._controller.num_replies:
            self._state.load(path)
            return
        dialog = SwitchDialog(shortened(path.name), self._controller.num_replies, self)
        dialog.agreed.connect(lambda: self._state.load(path))
        dialog.open()

    def _dismiss(self) -> None:
        self.notice.hide()
        self._state.dismiss_failure()

    def _on_panes(self) -> None:
        focused = self.panes.focused
        self.chat_list.set_open(self.panes.open_chats, focused.conversation.chat_id if focused else None)
        self._fit()

    def _show_tabs(self) -> None:
        panes, focused = self.panes.panes, self.panes.focused
        chats = [(pane.header.title, pane.conversation.color_index) for pane in panes]
        self.tabs.show_chats(chats, panes.index(focused) if focused is not None else 0)
        self.tabs.setVisible(len(self.panes.shown) < len(panes))

    def _on_engine(self) -> None:
        """Show why a load failed, or that the engine hangs, once; any other notice stays until it was read."""
        self._tell_of_stall()
        failure, told = self._state.failure, self._told_failure
        self._told_failure = failure
        if failure is None and told is not None:
            self.notice.hide()
        elif failure is not None and failure is not told:
            self._tell_of_failure(failure)

    def _tell_of_stall(self) -> None:
        is_stalled, was_told = self._state.stalled_s is not None, self._told_stall
        self._told_stall = is_stalled
        title = self.tr("The engine does not answer")
        if was_told and not is_stalled and self.notice.title.text() == title:
            self.notice.hide()
        elif is_stalled and not was_told:
            self.show_problem(
                title,
                self.tr("One step has taken {n} s so far.").format(n=self._state.stalled_s),
                self.tr("Wait, or close PageDesk and start it again: what was written is kept."),
            )

    def _tell_of_failure(self, failure: LoadFailed) -> None:
        title = self.tr("{name} did not load").format(name=shortened(Path(failure.path).name or failure.path))
        has_starter = self._state.starter is not None and Path(failure.path) != self._state.starter
        self.notice.show_problem(title, failure.cause, failure.advice, offers_models=True, has_starter=has_starter)

    def _on_store_failed(self, cause: str, advice: str) -> None:
        self.show_problem(self.tr("Not saved yet"), cause, advice)

    def _on_pool(self) -> None:
        pool = self._state.pool
        if pool is None:
            self.gauge.clear()
            self.compact.clear()
        else:
            self.gauge.show_snapshot(pool)
            self.compact.show_snapshot(pool)
        self.chat_list.set_with_blocks(frozenset(chat.chat_id for chat in pool.chats) if pool else frozenset())

    def _name_chats(self) -> None:
        chats = self._controller.chats()
        self._show_tabs()
        names = {chat.chat_id: (chat.title or self.tr("New chat"), chat.color_index) for chat in chats}
        self.gauge.set_chats(names)
        self.compact.set_chats(names)

    def _fit(self) -> None:
        """Deal out the width."""
        wants_sidebar, wants_gauge = self._chats_side.is_wanted, self._gauge_side.is_wanted
        places = arrange(
            self.width(), max(1, len(self.panes.panes)), wants_sidebar=wants_sidebar, wants_gauge=wants_gauge
        )
        self.panes.show_at_most(places.num_panes)
        self.rail.setVisible(places.sidebar is SidebarForm.RAIL)
        self._chats_side.fit(has_room=places.sidebar is SidebarForm.FULL)
        self._gauge_side.fit(has_room=places.has_gauge)
        self.compact.setVisible(wants_gauge and not places.has_gauge)
        self._show_tabs()

    @override
    def focusNextPrevChild(self, forward: bool) -> bool:
        parts = (self.top_bar, self.rail, self.sidebar, self.notice, self.tabs, *self.panes.panes, self.gauge)
        widget = neighbour(tab_stops(parts), self.focusWidget(), 1 if forward else -1)
        if widget is None:
            return False
        widget.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
        return True

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() is QEvent.Type.Paint and not self._was_painted:
            self._was_painted = True
            # This event paints the window alone; its parts are painted before the event loop runs again.
            QTimer.singleShot(0, self.painted.emit)
        return done


def _column(parent: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(parent)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
