"""The text of a message while it is written: as high as its lines, until it has as many as it may show.

GUI thread. Enter is told, Shift+Enter breaks the line; an Enter that belongs to an input method is not told.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QPainter, QPalette
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.ui.composing_edit import ComposingEdit
from pagedesk.ui.theme import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QFocusEvent, QKeyEvent, QPaintEvent, QResizeEvent

LEAST_TEXT_HEIGHT = 22
_CHROME_HEIGHT = 64
_SLACK = 2  # Qt scrolls a text that has not a pixel more than its lines
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageEdit(ComposingEdit):
    """The text of the message.

    Signals:
        entered: Enter was pressed, and no input method is composing.
        content_changed: There are words now, or there are none any more; text that is being composed counts.
        focus_gained: It has the keyboard now.
        focus_lost: Another widget has it.
    """

    entered = Signal()
    content_changed = Signal()
    focus_gained = Signal()
    focus_lost = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.textChanged.connect(self.content_changed)
        self.textChanged.connect(self._fit)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    @property
    def has_words(self) -> bool:
        """Whether there is something to send."""
        return bool(self.toPlainText().strip())

    @property
    def shows_hint(self) -> bool:
        """Whether nothing is written, nor being composed."""
        return not self.is_composing and self.document().isEmpty()

    def set_hint(self, hint: str) -> None:
        """What stands there while nothing is written."""
        self._hint = hint
        self.setAccessibleName(hint)
        self.viewport().update()

    def limit_height(self, height: int) -> None:
        """Be no higher than this: more lines scroll."""
        self.setMaximumHeight(height)
        self._fit()

    @override
    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        height = max(LEAST_TEXT_HEIGHT, ceil(self._height_of_lines(_most_text_height())) + _SLACK)
        return QSize(100, height + margins.top() + margins.bottom())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(40, LEAST_TEXT_HEIGHT)

    def _height_of_lines(self, most: float) -> float:
        """The height of the first lines, as many whole ones as `most` has room for; fonts differ, so they are asked."""
        total = 0.0
        for height in self._line_heights():
            if total + height > most:
                break
            total += height
        return total

    def _line_heights(self) -> Iterator[float]:
        block = self.document().firstBlock()
        while block.isValid():
            self.document().documentLayout().blockBoundingRect(block)  # lays the block out if it is not
            layout = block.layout()
            yield from (layout.lineAt(index).height() for index in range(layout.lineCount()))
            block = block.next()

    def _fit(self) -> None:
        """Take the height of the text; a scroll bar only where that is not allowed, so that none flashes up between."""
        room = min(_most_text_height(), self.maximumHeight() - _SLACK)
        scrolls = self._height_of_lines(2 * room) > self._height_of_lines(room)
        shown = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if shown != self.verticalScrollBarPolicy():
            self.setVerticalScrollBarPolicy(shown)
        self.updateGeometry()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """The line one writes in stays in sight."""
        super().resizeEvent(event)
        self._fit()
        self.ensureCursorVisible()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in _ENTER_KEYS
        if is_enter and self.is_composing:
            event.ignore()
        elif is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    @override
    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self.content_changed.emit()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_gained.emit()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_lost.emit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's own placeholder would stay under text that is being composed."""
        super().paintEvent(event)
        if self.shows_hint:
            with QPainter(self.viewport()) as painter:
                painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
                painter.setFont(self.font())
                painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignTop, self._hint)


def _most_text_height() -> int:
    most: int = tokens()["size"]["composer"]["max"] - _CHROME_HEIGHT
    return most
