"""Where a message is written: a text that grows with its lines, and one button that sends or stops.

GUI thread. Enter sends, Shift+Enter breaks the line; an Enter that belongs to an input method never sends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.chat.message_edit import LEAST_TEXT_HEIGHT, MessageEdit
from pagedesk.ui.icons import icon
from pagedesk.ui.parts import icon_button, label
from pagedesk.ui.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

_MIN_WIDTH_FOR_HINT = 280


class Composer(QFrame):
    """Text, hint and button.

    Signals:
        sent: The words to send.
        stopped: The reply under way is to end.
        draft_changed: What is written now.
    """

    sent = Signal(str)
    stopped = Signal()
    draft_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.edit = MessageEdit(self)
        self.edit.set_hint(self.tr("Ask something"))
        self.button = icon_button(self, "send", 28)
        self._keys = label(self, "muted", self.tr("Enter sends, Shift Enter starts a line"))
        self._is_busy = False
        self._wants_hint = False
        self._lay_out()
        self.edit.entered.connect(self._send)
        self.edit.content_changed.connect(self._on_content)
        self.edit.focus_gained.connect(lambda: self._show_ring(has_focus=True))
        self.edit.focus_lost.connect(lambda: self._show_ring(has_focus=False))
        self.button.clicked.connect(self._press)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.edit.setFont(theme.font("body"))
        self._keys.setFont(theme.font("micro"))
        self._show_button()

    def set_busy(self, *, is_busy: bool) -> None:
        """Whether a reply is under way: the button stops it then."""
        self._is_busy = is_busy
        self._show_button()

    def set_hint_shown(self, *, is_shown: bool) -> None:
        """Whether the keys are named beside the button."""
        self._wants_hint = is_shown
        self._fit_hint()

    def set_draft(self, text: str) -> None:
        """Put words there that were written before."""
        if text != self.edit.toPlainText():
            self.edit.setPlainText(text)
            self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    @property
    def least_height(self) -> int:
        """The height of a single line and the button."""
        return self._height_around_text + LEAST_TEXT_HEIGHT

    @property
    def wanted_height(self) -> int:
        """The height for what is written, as far as it grows, whatever limit is set."""
        return self._height_around_text + self.edit.sizeHint().height()

    def limit_height(self, height: int) -> None:
        """Be no higher than this, and no lower than a line: the text scrolls."""
        self.edit.limit_height(max(LEAST_TEXT_HEIGHT, height - self._height_around_text))

    @property
    def _height_around_text(self) -> int:
        frame, inside = self.contentsMargins(), self._column.contentsMargins()
        margins = frame.top() + frame.bottom() + inside.top() + inside.bottom()
        return margins + self._column.spacing() + self.button.height()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch()
        row.addWidget(self._keys)
        row.addSpacing(8)
        row.addWidget(self.button)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 6)
        column.setSpacing(6)
        column.addWidget(self.edit)
        column.addLayout(row)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_hint()

    def _fit_hint(self) -> None:
        self._keys.setVisible(self._wants_hint and self.width() >= _MIN_WIDTH_FOR_HINT)

    def _press(self) -> None:
        if self._is_busy:
            self.stopped.emit()
        else:
            self.edit.finish_composing()
            self._send()

    def _send(self) -> None:
        if self.edit.has_words and not self._is_busy:
            self.sent.emit(self.edit.toPlainText())

    def _on_content(self) -> None:
        self._show_button()
        self.draft_changed.emit(self.edit.toPlainText())

    def _show_ring(self, *, has_focus: bool) -> None:
        self.setProperty("focused", has_focus)
        self.style().polish(self)

    def _show_button(self) -> None:
        name = "stop" if self._is_busy else "arrow-up"
        token = "text_primary" if self._is_busy else "text_on_accent"
        text = self.tr("Stop the reply") if self._is_busy else self.tr("Send")
        self.button.setIcon(icon(name, self._theme.color(token), self._theme.color("text_disabled")))
        self.button.setEnabled(self._is_busy or self.edit.has_words)
        self.button.setAccessibleName(text)
        self.button.setToolTip(text)
        if self.button.property("stops") != self._is_busy:
            self.button.setProperty("stops", self._is_busy)
            self.button.style().polish(self.button)
