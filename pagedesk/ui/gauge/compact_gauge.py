"""The memory bar at the end of the status line, while the gauge is folded for want of room.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from pagedesk.protocol import PoolSnapshot
from pagedesk.ui.gauge.hover_card import ChatName
from pagedesk.ui.gauge.memory_bar import MemoryBar
from pagedesk.ui.gauge.memory_slices import slices_of
from pagedesk.ui.theme import Theme, tokens

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent

_BAR_WIDTH, _BAR_HEIGHT = 120, 12


class CompactGauge(QWidget):
    """The memory bar of the gauge, 120 pixels wide.

    Signals:
        clicked: The user wants to see more.
    """

    clicked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("compactGauge")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(tokens()["size"]["status_line"])
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(self.tr("Memory by use; a click shows the gauge"))
        self._colors: dict[str, int] = {}
        self.bar = MemoryBar(theme, self)
        self.bar.setFixedSize(_BAR_WIDTH, _BAR_HEIGHT)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 1, 12, 0)
        row.addWidget(self.bar)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.bar.set_theme(theme)

    def set_chats(self, chats: Mapping[str, ChatName]) -> None:
        """Take the colour of each chat by its id."""
        self._colors = {chat_id: color_index for chat_id, (_, color_index) in chats.items()}

    def show_snapshot(self, snapshot: PoolSnapshot) -> None:
        """Show where the memory is."""
        use = snapshot.memory
        self.bar.show_slices(slices_of(use, snapshot, self._colors), use.total_bytes)

    def clear(self) -> None:
        """Nothing is known."""
        self.bar.show_slices((), None)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.clicked.emit()
