"""A notice over the panes: why a model did not load or a message could not be saved, and the way on.

GUI thread. The chats stay below it, readable and usable.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from pagedesk.ui.formats import breakable
from pagedesk.ui.icons import icon, pixmap
from pagedesk.ui.parts import icon_button, label
from pagedesk.ui.theme import Theme

_ICON = 20


class Notice(QFrame):
    """Title, cause and advice, and up to two buttons; hidden while there is nothing to say.

    Signals:
        open_asked: Another model is to be chosen.
        starter_asked: The starter model is to be loaded.
        dismissed: It was read.
    """

    open_asked = Signal()
    starter_asked = Signal()
    dismissed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.title = QLabel(self, wordWrap=True)
        self.text = label(self, "secondary")
        self.text.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self._mark = QLabel(self)
        self.open_button = QPushButton(self.tr("Open a GGUF file\u2026"), self)
        self.starter_button = QPushButton(self.tr("Load the starter model"), self)
        self.starter_button.setObjectName("primary")
        self.close_button = icon_button(self, "noticeClose", 26)
        self.close_button.setAccessibleName(self.tr("Close this notice"))
        self._lay_out()
        self.open_button.clicked.connect(self.open_asked)
        self.starter_button.clicked.connect(self.starter_asked)
        self.close_button.clicked.connect(self.dismissed)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.title.setFont(theme.font("heading_2"))
        self.text.setFont(theme.font("body"))
        self._mark.setPixmap(pixmap("alert", theme.color("danger"), _ICON, self.devicePixelRatioF()))
        self.close_button.setIcon(icon("close", theme.color("text_secondary")))

    def show_problem(self, title: str, cause: str, advice: str, *, offers_models: bool, has_starter: bool) -> None:
        """Say what happened, why, and what to do."""
        self.title.setText(breakable(title))
        self.text.setText(breakable(f"{cause} {advice}"))
        self.setAccessibleName(f"{title}. {cause} {advice}")
        self.open_button.setVisible(offers_models)
        self.starter_button.setVisible(offers_models and has_starter)
        self.show()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.starter_button)
        buttons.addWidget(self.open_button)
        buttons.addStretch()
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.title)
        words.addWidget(self.text)
        words.addSpacing(4)
        words.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 12, 10, 12)
        row.setSpacing(12)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
