"""A plain text in which an input method composes, and which loses no word of it.

GUI thread.
"""

from __future__ import annotations

from PySide6.QtGui import QFocusEvent, QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from typing_extensions import override


class ComposingEdit(QPlainTextEdit):
    """Keeps what is being composed when the focus goes; Tab goes on to the next widget."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preedit = ""
        self.setTabChangesFocus(True)

    @property
    def is_composing(self) -> bool:
        """Whether an input method has text here that it has not handed over."""
        return bool(self._preedit)

    def finish_composing(self) -> None:
        """Take over what is being composed."""
        QGuiApplication.inputMethod().commit()
        self._take_over()

    @override
    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self._preedit = event.preeditString()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt has asked the input method for its text before; what did not come then, it would throw away now."""
        self._take_over()
        super().focusOutEvent(event)

    def _take_over(self) -> None:
        if self.is_composing:
            event = QInputMethodEvent()
            event.setCommitString(self._preedit)
            self.inputMethodEvent(event)
            QGuiApplication.inputMethod().reset()
