"""The sidebar: a search field that filters by title, a button for a new chat, the list of chats.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSortFilterProxyModel, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListView, QVBoxLayout
from typing_extensions import override

from pagedesk.ui.chat.chat_column import ChatColumn
from pagedesk.ui.chat.chat_delegate import SPINS, ChatDelegate
from pagedesk.ui.chat.chat_list import ChatListModel, ChatRow
from pagedesk.ui.chat.search_field import SearchField
from pagedesk.ui.focus_ring import FocusRing, Ringed
from pagedesk.ui.formats import breakable
from pagedesk.ui.icons import icon
from pagedesk.ui.parts import label
from pagedesk.ui.theme import Theme, tokens


class ChatView(Ringed, QListView):
    """The list of chats; it has a ring as a whole, because without a row there is none around a row."""

    def __init__(self) -> None:
        super().__init__()
        self._ring = FocusRing(self)


class Sidebar(ChatColumn):
    """The list with titles and the search."""

    def __init__(self, theme: Theme, model: ChatListModel) -> None:
        self._filtered = QSortFilterProxyModel(filterCaseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        self._filtered.setSourceModel(model)
        super().__init__(model, self._filtered, ChatDelegate(theme), ChatView())
        self._filtered.setParent(self)
        self.search = SearchField(self, placeholderText=self.tr("Search chats"), clearButtonEnabled=True)
        for after_search in (self.new_button, self.list):
            after_search.raise_()  # to the end of the children, in whose order Tab goes
        self.nothing = label(self, "muted")
        self.nothing.setWordWrap(True)
        self._promise = label(self, "muted", self.tr("Chats stay on this PC."))
        self._lay_out()
        self._connect()
        self.set_theme(theme)

    @override
    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._search_icon.setIcon(icon("search", theme.color("text_muted"), size=14))
        self.search.setFont(theme.font("small"))
        self._promise.setFont(theme.font("small"))
        self.nothing.setFont(theme.font("small"))

    def rows(self) -> list[ChatRow]:
        """The rows that the list shows now, top to bottom."""
        return [self._row(self._filtered.index(i, 0)) for i in range(self._filtered.rowCount())]

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._choose_first)
        for changed in (self._filtered.modelReset, self._filtered.rowsInserted, self._filtered.rowsRemoved):
            changed.connect(self._show_nothing)

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

    @override
    def _spin(self) -> None:
        """Repaint the rows whose spinner turns, if they can be seen."""
        first = max(0, self.list.indexAt(QPoint(0, 0)).row())
        num_visible = self.list.viewport().height() // tokens()["size"]["row"]["chat"] + 2
        for position in range(first, min(first + num_visible, self._filtered.rowCount())):
            index = self._filtered.index(position, 0)
            if self._row(index).activity in SPINS:
                self.list.update(index)
