"""The chats as rows of a list: a model that Qt's views read, fed by the controller.

GUI thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from typing_extensions import override

from pagedesk.ui.chat.activity_mark import activity_text
from pagedesk.ui.chat.controller import ChatController
from pagedesk.ui.chat.conversation import Activity
from pagedesk.ui.formats import day

ROW_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ChatRow:
    """What a row of the list shows.

    Attributes:
        is_open: It is in a pane.
        is_focused: It is in the pane in use.
        has_blocks: The engine holds blocks of it.
        when: When it was last written in, in words.
    """

    chat_id: str
    title: str
    color_index: int
    activity: Activity
    is_open: bool
    is_focused: bool
    has_blocks: bool
    when: str

    @property
    def state_text(self) -> str:
        """The word at the right end."""
        return activity_text(self.activity) or self.when


class ChatListModel(QAbstractListModel):
    """All chats, the one with the newest message first."""

    def __init__(self, controller: ChatController) -> None:
        super().__init__()
        self._controller = controller
        self._open: list[str] = []
        self._focused: str | None = None
        self._with_blocks: frozenset[str] = frozenset()
        self._rows: list[ChatRow] = []
        controller.chats_changed.connect(self.reread)
        controller.activity_changed.connect(self._on_activity)
        self.reread()

    @property
    def rows(self) -> list[ChatRow]:
        """All of them, in order."""
        return list(self._rows)

    def reread(self) -> None:
        """Take the chats over anew."""
        self.beginResetModel()
        self._rows = self._make_rows()
        self.endResetModel()

    def set_open(self, open_chats: list[str], focused: str | None) -> None:
        """Tell which chats are in panes, and which of them is in use."""
        if (open_chats, focused) != (self._open, self._focused):
            self._open, self._focused = open_chats, focused
            self._refresh()

    def set_with_blocks(self, chat_ids: frozenset[str]) -> None:
        """Tell which chats have blocks in the pool."""
        if chat_ids != self._with_blocks:
            self._with_blocks = chat_ids
            self._refresh()

    @override
    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature; an invalid index has no state
        return 0 if parent.isValid() else len(self._rows)

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.title}, {row.state_text}"
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"<span>{escape(row.title)}</span>"  # a tool tip takes tags in a title for its own
        return None

    def _refresh(self) -> None:
        self._rows = self._make_rows()
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def _on_activity(self, chat_id: str) -> None:
        """One row looks different; the others, perhaps thousands, are left alone."""
        for position, row in enumerate(self._rows):
            if row.chat_id == chat_id:
                self._rows[position] = replace(row, activity=self._controller.activity(chat_id))
                self.dataChanged.emit(self.index(position), self.index(position))

    def _make_rows(self) -> list[ChatRow]:
        return [
            ChatRow(
                chat_id=chat.chat_id,
                title=chat.title or self.tr("New chat"),
                color_index=chat.color_index,
                activity=self._controller.activity(chat.chat_id),
                is_open=chat.chat_id in self._open,
                is_focused=chat.chat_id == self._focused,
                has_blocks=chat.chat_id in self._with_blocks,
                when=day(chat.updated_at),
            )
            for chat in self._controller.chats()
        ]
