"""The field in which one searches the chats.

GUI thread. A widget: it knows no chats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from pagedesk.ui.chat.escape_edit import EscapeEdit

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class SearchField(EscapeEdit):
    """Escape clears it; where it is empty, it gives the keyboard back.

    Signals:
        left: Escape was pressed and there was nothing to clear.
    """

    left = Signal()

    def __init__(self, parent: QWidget, **properties: Any) -> None:  # noqa: ANN401 - Qt's own
        super().__init__(parent, **properties)
        self.escaped.connect(self._escape)

    def _escape(self) -> None:
        if self.text():
            self.clear()
        else:
            self.left.emit()
