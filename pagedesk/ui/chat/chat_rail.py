"""The list of chats where there is no room for names: a rail of chips.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView, QStyleOptionViewItem, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.chat.chat_delegate import SPINS, ChatDelegate
from pagedesk.ui.chat.chat_list import ROW_ROLE, ChatListModel, ChatRow
from pagedesk.ui.icons import icon
from pagedesk.ui.painting import SPINNER_FRAME_MS, draw_chip, draw_spinner
from pagedesk.ui.parts import icon_button
from pagedesk.ui.theme import Theme, tokens

_CHIP = 10
_SPINNER = 22
_INSET = 8


class RailDelegate(ChatDelegate):
    """Paints a `ChatRow` as its chip, with the spinner around it while a reply is under way."""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(tokens()["size"]["sidebar"]["rail"], tokens()["size"]["row"]["chat"])

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: ChatRow = index.data(ROW_ROLE)
        place = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint_ground(painter, place, row, option.state)
        middle = QRectF(place).center()
        if row.activity in SPINS:
            ring = QRectF(middle.x() - _SPINNER / 2, middle.y() - _SPINNER / 2, _SPINNER, _SPINNER)
            draw_spinner(painter, ring, self.theme, self.theme.chat_color(row.color_index))
        chip = QRectF(middle.x() - _CHIP / 2, middle.y() - _CHIP / 2, _CHIP, _CHIP)
        draw_chip(painter, chip, self.theme, row.color_index, hollow=not (row.is_open or row.has_blocks))
        painter.restore()


class ChatRail(QWidget):
    """Left of the panes, 52 pixels wide; the names are tool tips.

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
        self.setFixedWidth(tokens()["size"]["sidebar"]["rail"])
        self._model = model
        self._delegate = RailDelegate(theme)
        self.new_button = icon_button(self, "newChat", 28)
        self.list = QListView(self)
        self._spinning = QTimer(self, interval=SPINNER_FRAME_MS)
        self._spinning.timeout.connect(self.list.viewport().update)
        self._set_up_list()
        self._lay_out()
        self._connect()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._delegate.set_theme(theme)
        self.new_button.setIcon(icon("plus", theme.color("text_secondary")))
        self.list.viewport().update()

    def _set_up_list(self) -> None:
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._delegate)
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Chats"))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 6)
        column.setSpacing(6)
        column.addWidget(self.new_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.list, 1)

    def _connect(self) -> None:
        self.new_button.clicked.connect(self.new_asked)
        self.new_button.setAccessibleName(self.tr("New chat"))
        self.new_button.setToolTip(self.tr("New chat (Ctrl+N)"))
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self._model.dataChanged.connect(self._on_rows)
        self._model.modelReset.connect(self._on_rows)

    def _choose(self, index: QModelIndex) -> None:
        row: ChatRow = index.data(ROW_ROLE)
        beside = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier
        (self.chosen_beside if beside else self.chosen).emit(row.chat_id)

    def _on_rows(self) -> None:
        if any(row.activity in SPINS for row in self._model.rows):
            self._spinning.start()
        else:
            self._spinning.stop()
