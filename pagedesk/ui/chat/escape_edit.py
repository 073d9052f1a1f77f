"""A field of one line that hears Escape itself, which elsewhere in the window stops a reply.

GUI thread. A widget: it emits, and decides nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit
from typing_extensions import override


class EscapeEdit(QLineEdit):
    """A line of text.

    Signals:
        escaped: Escape was pressed.
    """

    escaped = Signal()

    @override
    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if is_escape and event.type() == QEvent.Type.KeyPress:
            self.escaped.emit()
            return True
        return super().event(event)
