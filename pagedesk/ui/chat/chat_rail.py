"""The list of chats where there is no room for names: a rail of chips.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtWidgets import QListView, QStyleOptionViewItem, QVBoxLayout
from typing_extensions import override

from pagedesk.ui.chat.chat_column import ChatColumn
from pagedesk.ui.chat.chat_delegate import SPINS, ChatDelegate
from pagedesk.ui.chat.chat_list import ChatListModel, ChatRow
from pagedesk.ui.painting import draw_chip, draw_spinner
from pagedesk.ui.theme import Theme, tokens

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

_CHIP = 10
_SPINNER = 22


class RailDelegate(ChatDelegate):
    """Paints a `ChatRow` as its chip, with the spinner around it while a reply is under way."""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(tokens()["size"]["sidebar"]["rail"], tokens()["size"]["row"]["chat"])

    @override
    def paint_row(self, painter: QPainter, place: QRect, row: ChatRow) -> None:
        middle = QRectF(place).center()
        if row.activity in SPINS:
            ring = QRectF(middle.x() - _SPINNER / 2, middle.y() - _SPINNER / 2, _SPINNER, _SPINNER)
            draw_spinner(painter, ring, self.theme, self.theme.chat_color(row.color_index))
        chip = QRectF(middle.x() - _CHIP / 2, middle.y() - _CHIP / 2, _CHIP, _CHIP)
        draw_chip(painter, chip, self.theme, row.color_index, hollow=not (row.is_open or row.has_blocks))


class ChatRail(ChatColumn):
    """52 pixels wide; the names are tool tips."""

    def __init__(self, theme: Theme, model: ChatListModel) -> None:
        super().__init__(model, model, RailDelegate(theme), QListView())
        self.setFixedWidth(tokens()["size"]["sidebar"]["rail"])
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 6)
        column.setSpacing(6)
        column.addWidget(self.new_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.list, 1)
        self.set_theme(theme)
