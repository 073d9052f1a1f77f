"""The dialog for what the model is told before the first message of a chat.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.composing_edit import ComposingEdit
from pagedesk.ui.parts import label
from pagedesk.ui.theme import Theme

_WIDTH, _HEIGHT = 480, 300


class SystemPromptDialog(QDialog):
    """A text of several lines, OK and Cancel; the window goes on behind it.

    Signals:
        chosen: The text, after OK.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("systemPromptDialog")
        self.setWindowTitle(self.tr("System prompt"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        explanation = self.tr("The model reads this before the first message. It counts from the next message on.")
        self._explanation = label(self, "secondary", explanation)
        self._explanation.setWordWrap(True)
        self._explanation.setFont(theme.font("ui"))
        self.edit = ComposingEdit(self)
        self.edit.setObjectName("systemPrompt")
        self.edit.setFont(theme.font("body"))
        self.edit.setAccessibleName(self.windowTitle())
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.ok_button = QPushButton(self.tr("OK"))
        self.ok_button.setObjectName("primary")
        self.cancel_button = QPushButton(self.tr("Cancel"))
        self.ok_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)
        self._lay_out()

    @override
    def accept(self) -> None:
        self.edit.finish_composing()
        super().accept()
        self.chosen.emit(self.edit.toPlainText())

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(self._explanation)
        column.addWidget(self.edit, 1)
        buttons = QDialogButtonBox(self)
        buttons.addButton(self.ok_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.cancel_button, QDialogButtonBox.ButtonRole.RejectRole)
        column.addWidget(buttons)
        self.resize(_WIDTH, _HEIGHT)
