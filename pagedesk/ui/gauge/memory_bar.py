"""The bar that stands for all memory of the device, a slice for each use of it.

GUI thread. Knows slices and a theme, neither the engine's snapshots nor the numbers' text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.ui.gauge import fills
from pagedesk.ui.gauge.memory_slices import Segment, Slice, SliceKind, lay_out
from pagedesk.ui.theme import Theme, tokens

BAR_HEIGHT = 20
_MIN_SEGMENT = 2


class MemoryBar(QWidget):
    """Weights, workspace, pool, other programs and headroom, to scale."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._slices: tuple[Slice, ...] = ()
        self._total_bytes: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Memory by use"))

    def show_slices(self, slices: Sequence[Slice], total_bytes: int | None) -> None:
        """Show slices to scale of `total_bytes`; None: of their sum."""
        if (tuple(slices), total_bytes) == (self._slices, self._total_bytes):
            return
        self._slices, self._total_bytes = tuple(slices), total_bytes
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def segments(self) -> tuple[Segment, ...]:
        """What is painted now, in device pixels from the left."""
        ratio = self.devicePixelRatioF()
        width, min_width = round(self.width() * ratio), round(_MIN_SEGMENT * ratio)
        return lay_out(self._slices, self._total_bytes or 0, width, min_width)

    @override
    def sizeHint(self) -> QSize:
        return QSize(tokens()["size"]["gauge_panel"]["min"], BAR_HEIGHT)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, BAR_HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        painter = QPainter(self)
        painter.scale(1 / ratio, 1 / ratio)
        self._paint(painter, QRect(0, 0, round(self.width() * ratio), round(self.height() * ratio)), ratio)
        painter.end()

    def _paint(self, painter: QPainter, bar: QRect, ratio: float) -> None:
        outline = QPainterPath()
        radius = tokens()["radius"]["small"] * ratio
        outline.addRoundedRect(QRectF(bar), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(outline, self._theme.color("map_bg"))
        painter.setClipPath(outline)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        line = max(1, round(ratio))
        segments = self.segments()
        for segment in segments:
            self._paint_segment(painter, segment, bar, line)
        for before, after in pairwise(segments):
            if not (before.kind.is_pool and after.kind.is_pool):
                painter.fillRect(after.x, 0, line, bar.height(), self._theme.color("bg_sidebar"))

    def _paint_segment(self, painter: QPainter, segment: Segment, bar: QRect, line: int) -> None:
        rect = QRect(segment.x, 0, segment.width, bar.height())
        if segment.kind is SliceKind.OWNED:
            fills.fill_owned(painter, rect, self._theme, segment.color_index)
            return
        fills.fill(painter, rect, segment.kind, self._theme, line)
        if segment.kind is SliceKind.HEADROOM:
            fills.dashed(painter, rect.adjusted(line, 0, 0, 0), self._theme.color("border"), line)
