"""The question before another model ends the replies that are being written.

GUI thread. A widget: it asks and emits.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.formats import breakable, count
from pagedesk.ui.parts import label

_WIDTH = 420


class SwitchDialog(QDialog):
    """Two ways on, Switch and Keep writing; Escape keeps writing, and the replies go on behind it.

    Signals:
        agreed: Switch.
    """

    agreed = Signal()

    def __init__(self, name: str, num_replies: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("switchDialog")
        self.setWindowTitle(self.tr("Load another model?"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = self.tr("Replies being written: {n}. They end when {name} is loaded; what was written is kept.")
        self.question = label(self, "secondary", breakable(text.format(n=count(num_replies), name=name)))
        self.question.setWordWrap(True)
        self.switch_button = QPushButton(self.tr("Switch"), self)
        self.keep_button = QPushButton(self.tr("Keep writing"), self)
        self.keep_button.setObjectName("primary")
        self.keep_button.setDefault(True)
        self.switch_button.setAutoDefault(False)
        self.switch_button.clicked.connect(self.accept)
        self.keep_button.clicked.connect(self.reject)
        self._lay_out()
        self.keep_button.setFocus()

    @override
    def accept(self) -> None:
        super().accept()
        self.agreed.emit()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(self.question)
        buttons = QDialogButtonBox(self)
        buttons.addButton(self.switch_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.keep_button, QDialogButtonBox.ButtonRole.RejectRole)
        column.addWidget(buttons)
        self.setFixedWidth(_WIDTH)
