"""How a row of the chat list is painted: chip, title, and at the right end what the chat does.

GUI thread.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from pagedesk.ui.chat.chat_list import ROW_ROLE, ChatRow
from pagedesk.ui.chat.conversation import Activity
from pagedesk.ui.icons import pixmap
from pagedesk.ui.painting import draw_chip, draw_spinner
from pagedesk.ui.text_style import title_font
from pagedesk.ui.theme import Theme, tokens

_INSET = 6
_RADIUS = 6
_PADDING = 8
_CHIP = 10
_MARK = 14
SPINS = (Activity.READING, Activity.WRITING)


class ChatDelegate(QStyledItemDelegate):
    """Paints a `ChatRow`.

    Attributes:
        theme: Its colours and fonts now.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, tokens()["size"]["row"]["chat"])

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: ChatRow = index.data(ROW_ROLE)
        place = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, place, row, option.state)
        self.paint_row(painter, place, row)
        painter.restore()

    def paint_row(self, painter: QPainter, place: QRect, row: ChatRow) -> None:
        """What a row says, on its ground: chip, title, state."""
        left = place.x() + _PADDING
        chip = QRectF(left, place.center().y() - _CHIP / 2 + 1, _CHIP, _CHIP)
        draw_chip(painter, chip, self.theme, row.color_index, hollow=not (row.is_open or row.has_blocks))
        right = self._paint_state(painter, place, row)
        self._paint_title(painter, QRect(left + _CHIP + 8, place.y(), right - left - _CHIP - 16, place.height()), row)

    def _paint_ground(self, painter: QPainter, place: QRect, row: ChatRow, state: QStyle.StateFlag) -> None:
        """What tells that a row is in use, open, pointed at or has the keyboard."""
        is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        name = "surface_selected" if row.is_focused else "surface_hover" if is_hovered else "surface"
        if row.is_focused or is_hovered or row.is_open:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.color(name))
            painter.drawRoundedRect(place, _RADIUS, _RADIUS)
        has_keyboard = state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange
        if has_keyboard:
            painter.setPen(QPen(self.theme.color("focus_ring"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _paint_state(self, painter: QPainter, place: QRect, row: ChatRow) -> int:
        """Paint the right end; returns where it begins."""
        right = place.right() - _PADDING + 1
        if row.activity in SPINS:
            mark = QRectF(right - _MARK, place.center().y() - _MARK / 2 + 1, _MARK, _MARK)
            draw_spinner(painter, mark, self.theme, self.theme.chat_color(row.color_index))
            return right - _MARK
        is_waiting = row.activity is Activity.WAITING
        painter.setPen(self.theme.color("warning" if is_waiting else "text_muted"))
        painter.setFont(self.theme.font("micro"))
        width = painter.fontMetrics().horizontalAdvance(row.state_text)
        painter.drawText(place.adjusted(0, 0, -_PADDING, 0), _RIGHT, row.state_text)
        if not is_waiting:
            return right - width
        scale = painter.device().devicePixelRatio()
        hourglass = pixmap("hourglass", self.theme.color("warning"), 13, scale)
        painter.drawPixmap(right - width - 18, place.center().y() - 6, hourglass)
        return right - width - 18

    def _paint_title(self, painter: QPainter, place: QRect, row: ChatRow) -> None:
        painter.setPen(self.theme.color("text_primary"))
        painter.setFont(self._title_font(row))
        title = painter.fontMetrics().elidedText(row.title, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, title)

    def _title_font(self, row: ChatRow) -> QFont:
        return title_font(self.theme, "ui", row.title)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
