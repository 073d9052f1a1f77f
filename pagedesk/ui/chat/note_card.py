"""A note of the program inside a transcript: why a reply failed, what it waits for, that it was stopped.

GUI thread; painted, no widget. Colour never stands alone: a sentence and an icon go with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen

from pagedesk.ui.icons import pixmap
from pagedesk.ui.theme import Theme

_PADDING_X = 12
_PADDING_Y = 10
_ICON = 16
_GAP = 8
_BAR_HEIGHT = 6
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class NoteKind(Enum):
    """What a note is about; each value is its colour token and its icon."""

    FAILED = ("danger", "alert")
    WAITING = ("warning", "hourglass")

    @property
    def color(self) -> str:
        """The colour token; with `_subtle` the card's ground."""
        return self.value[0]

    @property
    def icon(self) -> str:
        """The name of the icon."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class NoteCard:
    """A framed note: a title, a sentence or two, perhaps a bar.

    Attributes:
        share: How full the bar is, 0 to 1; None for no bar.
    """

    kind: NoteKind
    title: str
    text: str
    share: float | None = None

    def height(self, theme: Theme, width: int) -> int:
        """Pixels that it takes at a width."""
        title, text = self._places(theme, width)
        bar = 0 if self.share is None else _BAR_HEIGHT + 10
        return max(title.bottom(), text.bottom()) + 1 + bar + _PADDING_Y

    def paint(self, painter: QPainter, theme: Theme, width: int) -> None:
        """Draw at the painter's origin."""
        height = self.height(theme, width)
        title, text = self._places(theme, width)
        self._paint_frame(painter, theme, width, height)
        painter.setPen(theme.color(self.kind.color))
        painter.setFont(_title_font(theme))
        painter.drawText(title, _WRAP, self.title)
        painter.setPen(theme.color("text_secondary"))
        painter.setFont(theme.font("ui"))
        painter.drawText(text, _WRAP, self.text)
        if self.share is not None:
            self._paint_bar(painter, theme, width, height)

    def _places(self, theme: Theme, width: int) -> tuple[QRect, QRect]:
        """Where title and text stand."""
        left = _PADDING_X + _ICON + _GAP
        room = QRect(left, _PADDING_Y - 1, width - left - _PADDING_X, 1 << 20)
        title = QFontMetrics(_title_font(theme)).boundingRect(room, _WRAP, self.title)
        room = QRect(left, title.bottom() + 4, room.width(), 1 << 20)
        text = QFontMetrics(theme.font("ui")).boundingRect(room, _WRAP, self.text) if self.text else QRect(title)
        return title.adjusted(0, 0, 2, 0), text.adjusted(0, 0, 2, 0)

    def _paint_frame(self, painter: QPainter, theme: Theme, width: int, height: int) -> None:
        color = theme.color(self.kind.color)
        painter.setPen(QPen(color, 1))
        painter.setBrush(theme.color(f"{self.kind.color}_subtle"))
        painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 8, 8)
        scale = painter.device().devicePixelRatio()
        painter.drawPixmap(_PADDING_X, _PADDING_Y + 1, pixmap(self.kind.icon, color, _ICON, scale))

    def _paint_bar(self, painter: QPainter, theme: Theme, width: int, height: int) -> None:
        place = QRectF(_PADDING_X, height - _PADDING_Y - _BAR_HEIGHT, width - 2 * _PADDING_X, _BAR_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg_pane"))
        painter.drawRoundedRect(place, 3, 3)
        place.setWidth(place.width() * (self.share or 0))
        painter.setBrush(theme.color(self.kind.color))
        painter.drawRoundedRect(place, 3, 3)


def _title_font(theme: Theme) -> QFont:
    return theme.font("heading_3")
