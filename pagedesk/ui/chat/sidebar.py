"""The sidebar: a search field that filters by title, a button for a new chat, the list of chats.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from pagedesk.ui.chat.chat_delegate import SPINS, ChatDelegate
from pagedesk.ui.chat.chat_list import ROW_ROLE, ChatListModel, ChatRow
from pagedesk.ui.chat.search_field import SearchField
from pagedesk.ui.focus_ring import FocusRing
from pagedesk.ui.formats import breakable
from pagedesk.ui.icons import icon
from pagedesk.ui.painting import SPINNER_FRAME_MS
from pagedesk.ui.parts import icon_button, label
from pagedesk.ui.theme import Theme, tokens


class ChatView(QListView):
    """The list of chats; it has a ring as a whole, because without a row there is none around a row."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._ring = FocusRing(self)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ring.fit(self.size())

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._ring.follow(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._ring.follow(event)


class Sidebar(QWidget):
    """Left of the panes.

    Signals:
        chosen: The id of a chat to show.
        chosen_beside: The id of a chat to open in a pane of its own.
        new_asked: A new chat is wanted.
    """

    chosen = Signal(str)
    chosen_beside = Signal(str)
    new_asked = Signal()

    def __init__(self, theme: Theme, model: ChatListModel) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._delegate = ChatDelegate(theme)
        self._filtered = QSortFilterProxyModel(self, filterCaseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        self._model = model
        self._filtered.setSourceModel(model)
        self.search = SearchField(self, placeholderText=self.tr("Search chats"), clearButtonEnabled=True)
        self.new_button = icon_button(self, "newChat", 28)
        self.list = ChatView(self)
        self.nothing = label(self, "muted")
        self.nothing.setWordWrap(True)
        self._promise = label(self, "muted", self.tr("Chats stay on this PC."))
        self._spinning = QTimer(self, interval=SPINNER_FRAME_MS)
        self._spinning.timeout.connect(self._spin)
        self._set_up_list()
        self._lay_out()
        self._connect()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._delegate.set_theme(theme)
        self._search_icon.setIcon(icon("search", theme.color("text_muted"), size=14))
        self.new_button.setIcon(icon("plus", theme.color("text_secondary")))
        self.search.setFont(theme.font("small"))
        self._promise.setFont(theme.font("small"))
        self.nothing.setFont(theme.font("small"))
        self.list.viewport().update()

    def rows(self) -> list[ChatRow]:
        """The rows that the list shows now, top to bottom."""
        return [self._row(self._filtered.index(i, 0)) for i in range(self._filtered.rowCount())]

    def _row(self, index: QModelIndex) -> ChatRow:
        row: ChatRow = index.data(ROW_ROLE)
        return row

    def _set_up_list(self) -> None:
        self.list.setModel(self._filtered)
        self.list.setItemDelegate(self._delegate)
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Chats"))

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._choose_first)
        self.new_button.clicked.connect(self.new_asked)
        self.new_button.setAccessibleName(self.tr("New chat"))
        self.new_button.setToolTip(self.tr("New chat (Ctrl+N)"))
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        for changed in (self._filtered.modelReset, self._filtered.rowsInserted, self._filtered.rowsRemoved):
            changed.connect(self._show_nothing)
        self._model.dataChanged.connect(self._on_rows)
        self._model.modelReset.connect(self._on_rows)

    def _lay_out(self) -> None:
        sizes = tokens()["size"]["sidebar"]
        self.setMinimumWidth(sizes["min"])
        self.setMaximumWidth(sizes["max"])
        self._search_icon = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        top = QHBoxLayout()
        top.setContentsMargins(10, 10, 10, 6)
        top.setSpacing(6)
        top.addWidget(self.search)
        top.addWidget(self.new_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        nothing = QVBoxLayout()
        nothing.setContentsMargins(14, 4, 14, 4)
        nothing.addWidget(self.nothing)
        column.addLayout(nothing)
        column.addWidget(self.list)
        self.nothing.hide()
        below = QVBoxLayout()
        below.setContentsMargins(14, 8, 14, 12)
        below.addWidget(self._promise)
        column.addLayout(below)

    def _choose(self, index: QModelIndex) -> None:
        beside = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier
        (self.chosen_beside if beside else self.chosen).emit(self._row(index).chat_id)

    def _choose_first(self) -> None:
        if self._filtered.rowCount():
            self._choose(self._filtered.index(0, 0))
            self.search.clear()

    def _filter(self, text: str) -> None:
        self._filtered.setFilterFixedString(text)
        self._show_nothing()

    def _show_nothing(self) -> None:
        """Say that no title has the words, instead of an empty list."""
        self.nothing.setVisible(bool(self.search.text()) and not self._filtered.rowCount())
        text = self.tr("No chat has \u201c{words}\u201d in its title.").format(words=self.search.text())
        self.nothing.setText(breakable(text))

    def _on_rows(self) -> None:
        if any(row.activity in SPINS for row in self._model.rows):
            self._spinning.start()
        else:
            self._spinning.stop()

    def _spin(self) -> None:
        """Repaint the rows whose spinner turns, if they can be seen."""
        first = max(0, self.list.indexAt(QPoint(0, 0)).row())
        num_visible = self.list.viewport().height() // tokens()["size"]["row"]["chat"] + 2
        for position in range(first, min(first + num_visible, self._filtered.rowCount())):
            index = self._filtered.index(position, 0)
            if self._row(index).activity in SPINS:
                self.list.update(index)
