"""The field in which one searches the chats.

GUI thread. A widget: it knows no chats.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit
from typing_extensions import override


class SearchField(QLineEdit):
    """Escape clears it; where it is empty, it gives the keyboard back, and stops no reply as it does elsewhere.

    Signals:
        left: Escape was pressed and there was nothing to clear.
    """

    left = Signal()

    @override
    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if is_escape and event.type() == QEvent.Type.KeyPress:
            self._escape()
            return True
        return super().event(event)

    def _escape(self) -> None:
        if self.text():
            self.clear()
        else:
            self.left.emit()
