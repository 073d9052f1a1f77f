"""A notice over the panes: why a model did not load or a message could not be saved, and the way on.

GUI thread. The chats stay below it, readable and usable.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.focus_ring import FocusRing, Ringed
from pagedesk.ui.formats import breakable
from pagedesk.ui.icons import icon, pixmap
from pagedesk.ui.parts import icon_button, label
from pagedesk.ui.theme import Theme

_ICON = 20
_SPACING = 4
_ABOVE_BUTTONS = 8


class _Words(Ringed, QScrollArea):
    """Title and text: as high as they are, unless they get less room; then they scroll, also with the keys."""

    def __init__(self, title: QLabel, text: QLabel, parent: QWidget) -> None:
        super().__init__(parent)
        self._inside = QWidget()
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(_SPACING)
        column.addWidget(title)
        column.addWidget(text)
        column.addStretch()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self._inside)
        self._inside.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().rangeChanged.connect(self._on_range)
        self._ring = FocusRing(self)

    def begin_anew(self) -> None:
        """There are other words: show them from their beginning."""
        self.verticalScrollBar().setValue(0)
        self.updateGeometry()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        return self._inside.heightForWidth(width)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(self._inside.minimumSizeHint().width(), 0)

    def _on_range(self, _first: int, last: int) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if last else Qt.FocusPolicy.NoFocus)


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
        self._set_fonts(theme)  # before the scroll area: it polishes the labels, and Qt goes back to the fonts of then
        self.words = _Words(self.title, self.text, self)
        self._mark = QLabel(self)
        self.starter_button = QPushButton(self.tr("Load the starter model"), self)
        self.starter_button.setObjectName("primary")
        self.open_button = QPushButton(self.tr("Open a GGUF file\u2026"), self)
        self.close_button = icon_button(self, "noticeClose", 26)
        self.close_button.setAccessibleName(self.tr("Close this notice"))
        self.set_theme(theme)
        self._lay_out()
        self.open_button.clicked.connect(self.open_asked)
        self.starter_button.clicked.connect(self.starter_asked)
        self.close_button.clicked.connect(self.dismissed)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._set_fonts(theme)
        self._mark.setPixmap(pixmap("alert", theme.color("danger"), _ICON, self.devicePixelRatioF()))
        self.close_button.setIcon(icon("close", theme.color("text_secondary")))

    def _set_fonts(self, theme: Theme) -> None:
        self.title.setFont(theme.font("heading_2"))
        self.text.setFont(theme.font("body"))

    def show_problem(self, title: str, cause: str, advice: str, *, offers_models: bool, has_starter: bool) -> None:
        """Say what happened, why, and what to do."""
        self.title.setText(breakable(title))
        self.text.setText(breakable(f"{cause} {advice}"))
        self.setAccessibleName(f"{title}. {cause} {advice}")
        self.words.setAccessibleName(self.accessibleName())
        self.open_button.setVisible(offers_models)
        self.starter_button.setVisible(offers_models and has_starter)
        self.words.begin_anew()
        self.show()

    @property
    def least_height(self) -> int:
        """The height in which a line of the title and the buttons can be seen."""
        frame, inside = self.contentsMargins(), self._row.contentsMargins()
        margins = frame.top() + frame.bottom() + inside.top() + inside.bottom()
        has_buttons = not self.open_button.isHidden()
        buttons = _ABOVE_BUTTONS + self.open_button.sizeHint().height() if has_buttons else 0
        return margins + self.title.fontMetrics().height() + buttons

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.setContentsMargins(0, _ABOVE_BUTTONS, 0, 0)
        buttons.addWidget(self.starter_button)
        buttons.addWidget(self.open_button)
        buttons.addStretch()
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self.words)
        column.addLayout(buttons)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(14, 12, 10, 12)
        row.setSpacing(12)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
