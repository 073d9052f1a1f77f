"""The meter of a pane: how much of the context the chat uses, and how fast its reply comes or came.

GUI thread; painted.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.ui.chat.conversation import Activity, Conversation
from pagedesk.ui.formats import age, count, speed
from pagedesk.ui.text_style import figures_font
from pagedesk.ui.theme import Theme

_HEIGHT = 22
_BAR_WIDTH, _BAR_HEIGHT = 84, 4
_GAP = 8
_NEARLY_FULL = 0.9
_AGE_MS = 30_000
_REFRESH_MS = 100


class Meter(QWidget):
    """Tokens used of the context on the left, tokens a second on the right."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversation: Conversation | None = None
        self._limit = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._ageing = QTimer(self, interval=_AGE_MS)
        self._ageing.timeout.connect(self.update)
        self._ageing.start()
        self._refreshing = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refreshing.timeout.connect(self.refresh)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    def set_limit(self, max_tokens: int) -> None:
        """How many tokens the model takes; 0 while there is none."""
        self._limit = max_tokens
        self.refresh()

    def set_conversation(self, conversation: Conversation) -> None:
        """Show another chat."""
        self._conversation = conversation
        self.refresh()

    def refresh_soon(self) -> None:
        """The chat holds more tokens, or another number a second; shown ten times a second at most."""
        if not self._refreshing.isActive():
            self._refreshing.start()

    def refresh(self) -> None:
        """Show the chat as it is now."""
        self.setAccessibleName(f"{self.tokens_text()} {self.speed_text()}".strip())
        self.update()

    def tokens_text(self) -> str:
        """For instance "4,489 of 20,000 tokens"; empty while nothing was counted."""
        used = self._conversation.used_tokens if self._conversation else 0
        if not used:
            return self.tr("up to {limit} tokens").format(limit=count(self._limit)) if self._limit else ""
        if not self._limit:
            return self.tr("{used} tokens").format(used=count(used))
        return self.tr("{used} of {limit} tokens").format(used=count(used), limit=count(self._limit))

    def speed_text(self) -> str:
        """What the reply does now, or how fast the last one came and when."""
        if self._conversation is None:
            return ""
        if self._conversation.is_busy:
            return self._busy_text(self._conversation)
        end = self._conversation.last_end
        if end is None or not end.timings.decode_tokens_per_s:
            return ""
        took_s = (end.timings.ttft_ms + end.timings.decode_ms) / 1000
        ended_at = self._conversation.messages[-1].created_at + took_s
        return f"{speed(end.timings.decode_tokens_per_s)}, {age(ended_at)}"

    def _busy_text(self, conversation: Conversation) -> str:
        words = {
            Activity.QUEUED: self.tr("sent"),
            Activity.READING: self.tr("reading"),
            Activity.WAITING: self.tr("waiting"),
        }
        rate = conversation.rate.tokens_per_s
        return words.get(conversation.activity) or (speed(rate) if rate else self.tr("writing"))

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, _HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._conversation is None:
            return
        with QPainter(self) as painter:
            painter.setFont(figures_font(self._theme, "micro"))
            right = self.speed_text()
            is_live = self._conversation.activity is Activity.WRITING
            painter.setPen(self._theme.color("text_primary" if is_live else "text_muted"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
            left = _BAR_WIDTH + _GAP if self._limit else 0
            room = self.width() - left - _GAP - painter.fontMetrics().horizontalAdvance(right)
            self._paint_tokens(painter, QRect(left, 0, max(0, room), self.height()), painter.fontMetrics())
            if self._limit:
                self._paint_bar(painter, self._conversation)

    def _paint_tokens(self, painter: QPainter, place: QRect, metrics: QFontMetrics) -> None:
        painter.setPen(self._theme.color("text_muted"))
        text = metrics.elidedText(self.tokens_text(), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_bar(self, painter: QPainter, conversation: Conversation) -> None:
        share = min(1.0, conversation.used_tokens / self._limit)
        nearly_full = share >= _NEARLY_FULL
        color = self._theme.color("warning") if nearly_full else self._theme.chat_color(conversation.color_index)
        place = QRectF(0, (self.height() - _BAR_HEIGHT) / 2, _BAR_WIDTH, _BAR_HEIGHT)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("surface_hover"))
        painter.drawRoundedRect(place, 2, 2)
        painter.setClipRect(QRectF(0, 0, _BAR_WIDTH * share, self.height()))
        painter.setBrush(color)
        painter.drawRoundedRect(place, 2, 2)
