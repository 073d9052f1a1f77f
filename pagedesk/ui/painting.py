"""Small marks that several widgets paint: the chip of a chat, the spinner, the dot of a state.

GUI thread; functions of a painter and a rectangle, without state.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from pagedesk.ui.theme import Theme, duration_ms

SPINNER_FRAME_MS = 50
_FIRST_PATTERNED_COLOR = 6
_PATTERN_CELLS = 7


def draw_chip(painter: QPainter, rect: QRectF, theme: Theme, color_index: int, *, hollow: bool = False) -> None:
    """The square of a chat: its colour, from the seventh on also its pattern; hollow for a chat without blocks."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if hollow:
        painter.setPen(QPen(theme.color("border_strong"), 1))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
    elif color_index % 12 >= _FIRST_PATTERNED_COLOR:
        _draw_pattern(painter, rect, theme, color_index)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.chat_color(color_index))
        painter.drawRoundedRect(rect, 2, 2)
    painter.restore()


def _draw_pattern(painter: QPainter, rect: QRectF, theme: Theme, color_index: int) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.fillRect(rect, theme.color("map_bg"))
    cell = rect.width() / _PATTERN_CELLS
    for row, line in enumerate(theme.pattern(color_index)):
        for column, mark in enumerate(line):
            if mark == "#":
                place = QRectF(rect.x() + column * cell, rect.y() + row * cell, cell, cell)
                painter.fillRect(place, theme.chat_color(color_index))


def draw_spinner(painter: QPainter, rect: QRectF, theme: Theme, color: QColor) -> None:
    """A ring with a quarter of it in `color`, turned by the clock."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ring = rect.adjusted(1.8, 1.8, -1.8, -1.8)
    painter.setPen(QPen(theme.color("border"), 1.6))
    painter.drawEllipse(ring)
    painter.setPen(QPen(color, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    turn_ms = duration_ms("spinner_turn")
    turned = (time.monotonic() * 1000 % turn_ms) / turn_ms
    painter.drawArc(ring, round((90 - 360 * turned) * 16), -90 * 16)
    painter.restore()


def draw_dot(painter: QPainter, center: QPointF, color: QColor) -> None:
    """The dot of a state, 7 pixels wide."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(center, 3.5, 3.5)
    painter.restore()
