"""What the list of chats is in either width: its signals, its button, its rows and their spinners.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView, QWidget

from pagedesk.ui.chat.chat_delegate import SPINS, ChatDelegate
from pagedesk.ui.chat.chat_list import ROW_ROLE, ChatListModel, ChatRow
from pagedesk.ui.icons import icon
from pagedesk.ui.painting import SPINNER_FRAME_MS
from pagedesk.ui.parts import icon_button
from pagedesk.ui.theme import Theme


class ChatColumn(QWidget):
    """Left of the panes.

    Args:
        model: All chats.
        shown: Those that the list shows.
        delegate: Paints a row.
        view: The list; this widget becomes its parent.

    Signals:
        chosen: The id of a chat to show.
        chosen_beside: The id of a chat to open in a pane of its own.
        new_asked: A new chat is wanted.
    """

    chosen = Signal(str)
    chosen_beside = Signal(str)
    new_asked = Signal()

    def __init__(
        self, model: ChatListModel, shown: QAbstractItemModel, delegate: ChatDelegate, view: QListView
    ) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._model = model
        self._delegate = delegate
        self.new_button = icon_button(self, "newChat", 28)
        self.list = view
        self.list.setParent(self)
        self._spinning = QTimer(self, interval=SPINNER_FRAME_MS)
        self._spinning.timeout.connect(self._spin)
        self._set_up_list(shown)
        self._connect_parts()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._delegate.set_theme(theme)
        self.new_button.setIcon(icon("plus", theme.color("text_secondary")))
        self.list.viewport().update()

    def _row(self, index: QModelIndex) -> ChatRow:
        row: ChatRow = index.data(ROW_ROLE)
        return row

    def _set_up_list(self, shown: QAbstractItemModel) -> None:
        self.list.setModel(shown)
        self.list.setItemDelegate(self._delegate)
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Chats"))

    def _connect_parts(self) -> None:
        self.new_button.clicked.connect(self.new_asked)
        self.new_button.setAccessibleName(self.tr("New chat"))
        self.new_button.setToolTip(self.tr("New chat (Ctrl+N)"))
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self._model.dataChanged.connect(self._on_rows)
        self._model.modelReset.connect(self._on_rows)

    def _choose(self, index: QModelIndex) -> None:
        beside = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier
        (self.chosen_beside if beside else self.chosen).emit(self._row(index).chat_id)

    def _on_rows(self) -> None:
        if any(row.activity in SPINS for row in self._model.rows):
            self._spinning.start()
        else:
            self._spinning.stop()

    def _spin(self) -> None:
        """Repaint what turns."""
        self.list.viewport().update()
