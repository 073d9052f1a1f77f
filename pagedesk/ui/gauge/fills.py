"""How each kind of memory is painted: the same grammar on the bar and on the swatches of its legend.

GUI thread. Solid is owned, hatched is shared, outlined is cached, dim is free, dashed is kept free.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen

from pagedesk.ui.gauge.memory_slices import SliceKind
from pagedesk.ui.gauge.palette import pattern_of
from pagedesk.ui.theme import Theme

_PLAIN = {
    SliceKind.WEIGHTS: "bar_weights",
    SliceKind.WORKSPACE: "bar_workspace",
    SliceKind.OTHERS: "bar_other",
    SliceKind.OWNED: "text_muted",
    SliceKind.FREE: "map_free",
    SliceKind.CACHED: "map_free",
    SliceKind.UNUSED: "bg_sidebar",
    SliceKind.HEADROOM: "bg_sidebar",
}
_SWATCH_COLORS = (0, 2, 4)
_STRIPE = 2


def fill(painter: QPainter, rect: QRect, kind: SliceKind, theme: Theme, scale: int = 1) -> None:
    """Paint a rectangle as a kind of memory; `scale` is the width of its lines and dashes."""
    if kind is SliceKind.SHARED:
        _hatch(painter, rect, theme, _STRIPE * scale)
        return
    painter.fillRect(rect, theme.color(_PLAIN[kind]))
    if kind is SliceKind.CACHED:
        _outline(painter, rect, theme.color("text_muted"), scale)


def fill_owned(painter: QPainter, rect: QRect, theme: Theme, color_index: int | None) -> None:
    """Paint a rectangle as blocks owned by a chat; None: by a chat that is not known."""
    painter.fillRect(rect, theme.color("text_muted") if color_index is None else theme.chat_color(color_index))


def dashed(painter: QPainter, rect: QRect, color: QColor, scale: int = 1) -> None:
    """Paint a dashed outline inside a rectangle."""
    _outline(painter, rect, color, scale, dashed=True)


def swatch(painter: QPainter, rect: QRect, kind: SliceKind, theme: Theme) -> None:
    """Paint a kind of memory on a small square of a legend."""
    if kind is SliceKind.OWNED:
        _swatch_of_chats(painter, rect, theme)
        return
    fill(painter, rect, kind, theme)
    if kind in (SliceKind.FREE, SliceKind.UNUSED):
        _outline(painter, rect, theme.color("border"), 1)
    elif kind is SliceKind.HEADROOM:
        dashed(painter, rect, theme.color("text_muted"))


def chip(painter: QPainter, rect: QRect, theme: Theme, color_index: int | None) -> None:
    """Paint the chip of a chat: its colour, and its pattern where it has one."""
    fill_owned(painter, rect, theme, color_index)
    pattern = None if color_index is None else pattern_of(theme, color_index)
    if pattern is None:
        return
    hole = theme.color("map_bg")
    for y in range(rect.height()):
        row = pattern[y * len(pattern) // rect.height()]
        for x in range(rect.width()):
            if row[x * len(row) // rect.width()] != "#":
                painter.fillRect(QRect(rect.topLeft() + QPoint(x, y), rect.topLeft() + QPoint(x, y)), hole)


def _swatch_of_chats(painter: QPainter, rect: QRect, theme: Theme) -> None:
    left = rect.left()
    for index, color_index in enumerate(_SWATCH_COLORS):
        right = rect.left() + rect.width() * (index + 1) // len(_SWATCH_COLORS)
        painter.fillRect(left, rect.top(), right - left, rect.height(), theme.chat_color(color_index))
        left = right


def _hatch(painter: QPainter, rect: QRect, theme: Theme, stripe: int) -> None:
    tile = QImage(2 * stripe, 2 * stripe, QImage.Format.Format_RGB32)
    tile.fill(theme.color("map_bg"))
    for y in range(2 * stripe):
        for x in range(2 * stripe):
            if (x + y) % (2 * stripe) < stripe:
                tile.setPixelColor(x, y, theme.color("map_many"))
    painter.setBrushOrigin(rect.topLeft())
    painter.fillRect(rect, QBrush(tile))


def _outline(painter: QPainter, rect: QRect, color: QColor, scale: int, *, dashed: bool = False) -> None:
    pen = QPen(color, scale)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    if dashed:
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([2, 2])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = scale // 2
    painter.drawRect(rect.adjusted(inset, inset, inset - scale, inset - scale))
