"""The block map: a cell for each block of the pool, in the colour of the chat that holds it.

GUI thread. It shows one `MapPicture`, drawn as one image; a timer runs only while a cell fades.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QHideEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.protocol import BlockState, PoolSnapshot
from pagedesk.ui.focus_ring import FocusRing, Ringed
from pagedesk.ui.gauge.block_facts import BlockFacts
from pagedesk.ui.gauge.map_layout import MAX_HEIGHT, CellSize, MapLayout, lay_out
from pagedesk.ui.gauge.palette import MapPalette
from pagedesk.ui.gauge.section import PADDING
from pagedesk.ui.gauge.units import count
from pagedesk.ui.theme import Theme, duration_ms, tokens

if TYPE_CHECKING:
    from pagedesk.ui.gauge.map_picture import MapPicture

_MIN_HEIGHT = 56
_RING_WIDTH = 2
_ROWS_A_STEP = 3


class BlockMap(Ringed, QAbstractScrollArea):
    """All blocks in the order of their ids; scrolls when they are more than fit.

    The panel's padding on its right is part of the widget, for the scroll bar.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = MapPalette.of(theme)
        self._ring_color = theme.color("text_primary")
        self._snapshot: PoolSnapshot | None = None
        self._picture: MapPicture | None = None
        self._color_of_chat: Mapping[str, int] = {}
        self._layout = self._make_layout()
        self._marked: int | None = None
        self._frames = QTimer(self)
        self._frames.setInterval(duration_ms("map_frame"))
        self._frames.timeout.connect(self._advance)
        self._set_up()

    def show_snapshot(self, snapshot: PoolSnapshot) -> None:
        """Show the pool as it is now; blocks that were taken or freed since the last snapshot flash."""
        self._snapshot = snapshot
        if self._picture is None:
            from pagedesk.ui.gauge.map_picture import MapPicture  # noqa: PLC0415 - numpy waits for the first snapshot

            self._picture = MapPicture(snapshot, self._color_of_chat)
            self.setAccessibleDescription(self.summary())
        else:
            self._picture.show(snapshot, self._color_of_chat, animated=self.isVisible())
        self._fit()
        self._refresh()

    def clear(self) -> None:
        """There are no blocks any more."""
        self._snapshot = self._picture = None
        self._frames.stop()
        self._fit()
        self._refresh()

    def set_chats(self, color_of_chat: Mapping[str, int]) -> None:
        """Take the colour index of each chat."""
        if color_of_chat == self._color_of_chat:
            return
        self._color_of_chat = dict(color_of_chat)
        if self._picture is not None and self._snapshot is not None:
            self._picture.show(self._snapshot, self._color_of_chat, animated=False)
            self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._palette = MapPalette.of(theme)
        self._ring_color = theme.color("text_primary")
        self._draw_anew()

    def mark(self, block_id: int | None) -> None:
        """Put a ring around a cell and bring it into view; None: no ring."""
        if block_id == self._marked:
            return
        self._marked = block_id
        if block_id is not None:
            self._bring_into_view(block_id)
        self.viewport().update()

    @property
    def num_blocks(self) -> int | None:
        """Cells on the map; None before the first snapshot."""
        return None if self._picture is None else self._picture.num_blocks

    @property
    def columns(self) -> int:
        """Cells in a row."""
        return self._layout.columns

    @property
    def is_animated(self) -> bool:
        """Whether the frame timer runs."""
        return self._frames.isActive()

    def count(self, state: BlockState) -> int | None:
        """How many cells show a state; None before the first snapshot."""
        return None if self._picture is None else self._picture.count(state)

    def facts(self, block_id: int) -> BlockFacts | None:
        """What is known about a block."""
        if self._snapshot is None or not 0 <= block_id < self._snapshot.num_blocks:
            return None
        return BlockFacts.of(self._snapshot, block_id)

    def block_at(self, point: QPoint) -> int | None:
        """The block at a point of the viewport."""
        ratio = self.devicePixelRatioF()
        return self._layout.block_at(int(point.x() * ratio), int(point.y() * ratio) + self._scrolled(ratio))

    def cell_rect(self, block_id: int) -> QRect:
        """Where a block's cell is, in the viewport."""
        ratio = self.devicePixelRatioF()
        x, y = self._layout.origin(block_id)
        size = ceil(self._layout.cell / ratio)
        return QRect(round(x / ratio), round((y - self._scrolled(ratio)) / ratio), size, size)

    def summary(self) -> str:
        """The map as a sentence, for readers who do not see it."""
        total, owned, shared = self.num_blocks, self.count(BlockState.OWNED), self.count(BlockState.SHARED)
        if total is None or owned is None or shared is None:
            return self.tr("No blocks")
        sentence = self.tr("{total} blocks, {held} held, {shared} shared")
        return sentence.format(total=count(total), held=count(owned + shared), shared=count(shared))

    @override
    def sizeHint(self) -> QSize:
        width = tokens()["size"]["gauge_panel"]["default"] - PADDING
        return QSize(width, min(MAX_HEIGHT, ceil(self._layout.height / self.devicePixelRatioF())))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(_MIN_HEIGHT, self.sizeHint().height()))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._frames.stop()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        self.setAccessibleDescription(self.summary())
        super().focusInEvent(event)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._fit()
            self._draw_anew()
        return super().event(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            return
        ratio = self.devicePixelRatioF()
        image = self._picture.image(self._layout, self._palette, ratio)
        height = ceil(self.viewport().height() * ratio)
        painter = QPainter(self.viewport())
        painter.drawImage(QPointF(0, 0), image, QRectF(0, self._scrolled(ratio), self._layout.width, height))
        if self._marked is not None and self._marked < self._layout.num_blocks:
            self._paint_ring(painter, self.cell_rect(self._marked))
        painter.end()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Block map"))
        self._ring = FocusRing(self)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)

    def _make_layout(self) -> MapLayout:
        sizes = tuple(
            CellSize(row["blocks"], row["cell"], row["gap"]) for row in tokens()["block_map"]["by_max_blocks"]
        )
        width = max(1, self.width() - PADDING)
        return lay_out(self.num_blocks or 0, width, self.devicePixelRatioF(), sizes)

    def _fit(self) -> None:
        """Lay the cells out for the number of blocks, the width and the scale of now."""
        layout = self._make_layout()
        if layout != self._layout:
            self._layout = layout
            self.updateGeometry()
            self._draw_anew()
        hidden = ceil(layout.height / self.devicePixelRatioF()) - self.viewport().height()
        self.verticalScrollBar().setRange(0, max(0, hidden))
        self.verticalScrollBar().setPageStep(self.viewport().height())
        self.verticalScrollBar().setSingleStep(_ROWS_A_STEP * layout.pitch)

    def _refresh(self) -> None:
        if self._picture is not None and self._picture.is_fading and self.isVisible():
            self._frames.start()
        if not self.hasFocus():  # with the focus, a screen reader would read every change aloud
            self.setAccessibleDescription(self.summary())
        self.viewport().update()

    def _draw_anew(self) -> None:
        if self._picture is not None:
            self._picture.forget_image()
        self.viewport().update()

    def _advance(self) -> None:
        if self._picture is None or not self._picture.is_fading:
            self._frames.stop()
            return
        self._picture.advance()
        self.viewport().update()

    def _scrolled(self, ratio: float) -> int:
        """Device pixels of the map above the viewport."""
        return round(self.verticalScrollBar().value() * ratio)

    def _bring_into_view(self, block_id: int) -> None:
        cell, bar = self.cell_rect(block_id), self.verticalScrollBar()
        if cell.top() < 0:
            bar.setValue(bar.value() + cell.top())
        elif cell.bottom() >= self.viewport().height():
            bar.setValue(bar.value() + cell.bottom() + 1 - self.viewport().height())

    def _paint_ring(self, painter: QPainter, cell: QRect) -> None:
        pen = QPen(self._ring_color, _RING_WIDTH)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(cell.adjusted(-1, -1, 1, 1))
