"""The card that tells about one block while the pointer or the cursor is on its cell.

GUI thread. A child of the window, without a window of its own; takes no mouse.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget
from typing_extensions import override

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge import fills
from pagedesk.ui.gauge.block_facts import MAX_COUNT, BlockFacts
from pagedesk.ui.gauge.units import count, memory
from pagedesk.ui.theme import Theme, tokens

ChatName = tuple[str, int]
"""Title and colour index of a chat."""

_PADDING_X, _PADDING_Y, _LINE, _CHIP, _SPACING, _DISTANCE = 12, 8, 18, 10, 7, 8
_MIN_WIDTH, _MAX_WIDTH = 168, 300
_ROUNDING = 2  # the advance of a text is rounded to whole pixels, what is elided is not


class HoverCard(QFrame):
    """Number and state of a block, its owners, its references and its size."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._facts: BlockFacts | None = None
        self._names: Mapping[str, ChatName] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        self.update()

    def tell(self, facts: BlockFacts, names: Mapping[str, ChatName]) -> None:
        """Show a block; `names` are the chats' titles by id."""
        if (facts, names) != (self._facts, self._names):
            self._facts, self._names = facts, names
            self.resize(self.sizeHint())
            self.update()

    def place_beside(self, area: QRect, cell: QRect) -> None:
        """Move beside the map, level with a cell, so that no row of it is covered; both in the window's coordinates."""
        bounds = self._window.rect()
        x = area.left() - _DISTANCE - self.width()
        y = cell.center().y() - self.height() // 2
        if x < 0:
            x, y = area.left(), cell.bottom() + _DISTANCE
        highest, leftmost = bounds.height() - self.height(), bounds.width() - self.width()
        self.move(QPoint(max(0, min(x, leftmost)), max(0, min(y, highest))))

    def lines(self) -> list[str]:
        """What the card says, line by line."""
        if self._facts is None:
            return []
        owners = [title for title, _ in self._owners()]
        return [f"{self._headline()}, {self._state()}", *owners, *self._further_owners(), self._size_line()]

    @override
    def sizeHint(self) -> QSize:
        metrics, strong = QFontMetrics(self._font()), QFontMetrics(self._font(strong=True))
        widths = [strong.horizontalAdvance(self._headline()) + 2 * _SPACING + metrics.horizontalAdvance(self._state())]
        widths += [_CHIP + _SPACING + metrics.horizontalAdvance(title) for title, _ in self._owners()]
        widths += [metrics.horizontalAdvance(line) for line in (*self._further_owners(), self._size_line())]
        width = min(_MAX_WIDTH, max(_MIN_WIDTH, max(widths) + _ROUNDING + 2 * _PADDING_X))
        return QSize(width, len(self.lines()) * _LINE + 2 * _PADDING_Y)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_frame(painter)
        line = QRect(_PADDING_X, _PADDING_Y, self.width() - 2 * _PADDING_X, _LINE)
        self._text(painter, line, self._headline(), "tooltip_text", strong=True)
        self._text(painter, line, self._state(), "text_muted", Qt.AlignmentFlag.AlignRight)
        for title, color_index in self._owners():
            line.translate(0, _LINE)
            fills.chip(
                painter, QRect(line.left(), line.top() + (_LINE - _CHIP) // 2, _CHIP, _CHIP), self._theme, color_index
            )
            self._text(painter, line.adjusted(_CHIP + _SPACING, 0, 0, 0), title, "tooltip_text")
        for text in (*self._further_owners(), self._size_line()):
            line.translate(0, _LINE)
            self._text(painter, line, text, "text_secondary")
        painter.end()

    def _paint_frame(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("border_strong"), 1))
        painter.setBrush(self._theme.color("tooltip_bg"))
        radius = tokens()["radius"]["card"]
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _text(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        color: str,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        *,
        strong: bool = False,
    ) -> None:
        font = self._font(strong=strong)
        painter.setFont(font)
        painter.setPen(self._theme.color(color))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, align | Qt.AlignmentFlag.AlignVCenter, shown)

    def _font(self, *, strong: bool = False) -> QFont:
        font = self._theme.font("small")
        if strong:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def _headline(self) -> str:
        return "" if self._facts is None else self.tr("Block {number}").format(number=count(self._facts.block_id))

    def _state(self) -> str:
        words = {
            BlockState.FREE: self.tr("free"),
            BlockState.OWNED: self.tr("owned"),
            BlockState.SHARED: self.tr("shared"),
            BlockState.CACHED: self.tr("cached"),
        }
        return "" if self._facts is None else words[self._facts.state]

    def _owners(self) -> list[tuple[str, int | None]]:
        chat_ids = () if self._facts is None else self._facts.chat_ids
        unknown: tuple[str, int | None] = (self.tr("A chat that is gone"), None)
        return [self._names.get(chat_id, unknown) for chat_id in chat_ids]

    def _further_owners(self) -> list[str]:
        if self._facts is None:
            return []
        further = self._facts.num_owners - len(self._facts.chat_ids)
        return (
            [self.tr("and {number} more").format(number=_at_least(further, self._facts.num_owners))]
            if further > 0
            else []
        )

    def _size_line(self) -> str:
        if self._facts is None:
            return ""
        size, references = memory(self._facts.num_bytes), self._facts.ref_count
        if references == 0:
            return size
        if references == 1:
            return self.tr("1 reference, {size}").format(size=size)
        return self.tr("{number} references, {size}").format(number=_at_least(references, references), size=size)


def _at_least(number: int, counted: int) -> str:
    return f"{count(number)}+" if counted == MAX_COUNT else count(number)
