"""What stands around the composer of an empty chat: a heading above it, questions to begin with below.

GUI thread. Widgets: they show and emit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.chat.welcome_texts import explanation, heading
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.focus_ring import FocusRing, Ringed
from pagedesk.ui.formats import breakable
from pagedesk.ui.icons import pixmap
from pagedesk.ui.parts import label
from pagedesk.ui.text_style import title_font
from pagedesk.ui.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QEnterEvent, QFont, QKeyEvent, QMouseEvent, QPaintEvent


class Heading(QWidget):
    """Title and sentence above the composer."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headingBox")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text = label(self, "secondary")
        self.text.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(4)
        column.addWidget(self.title)
        column.addWidget(self.text)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take other fonts."""
        self.title.setFont(theme.font("title"))
        self.text.setFont(theme.font("body"))

    def show_state(self, state: EngineState, *, is_first_pane: bool) -> None:
        """Say what the engine is doing."""
        self.title.setText(breakable(heading(state)))
        self.text.setText(breakable(explanation(state, is_first_pane=is_first_pane)))


class Suggestion(Ringed, QWidget):
    """One question as a row; a press or Enter asks it.

    Signals:
        chosen: The question.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.text = text
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._ring = FocusRing(self)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, 32)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.text)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.text)
        else:
            super().keyPressEvent(event)

    @override
    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(0, 0, self.width(), 1, self._theme.color("border_subtle"))
            is_lit = self.underMouse() or self.hasFocus()
            painter.setPen(self._theme.color("text_primary" if is_lit else "text_secondary"))
            painter.setFont(self._font())
            place = QRect(2, 1, self.width() - 26, self.height() - 1)
            text = painter.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
            color = self._theme.color("text_primary" if is_lit else "text_muted")
            mark = pixmap("arrow-up", color, 14, self.devicePixelRatioF())
            painter.drawPixmap(self.width() - 16, (self.height() - 14) // 2, mark)

    def _font(self) -> QFont:
        return title_font(self._theme, "ui", self.text)


class Suggestions(QWidget):
    """The questions under the composer.

    Signals:
        chosen: A question.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("suggestions")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._rows: list[Suggestion] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 6, 0, 0)
        self._column.setSpacing(0)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        for row in self._rows:
            row.set_theme(theme)

    def show_texts(self, texts: list[str]) -> None:
        """Offer these questions."""
        if [row.text for row in self._rows] == texts:
            return
        for row in self._rows:
            row.deleteLater()
        self._rows = [Suggestion(self._theme, text, self) for text in texts]
        for row in self._rows:
            row.chosen.connect(self.chosen)
            self._column.addWidget(row)
