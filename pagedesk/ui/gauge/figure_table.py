"""Names and numbers in one or two columns, as the width allows: the legend of the bar, the engine's counters.

GUI thread. It holds the numbers that it paints; what it does not hold, it does not show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from pagedesk.ui.gauge import fills
from pagedesk.ui.gauge.memory_slices import SliceKind
from pagedesk.ui.theme import Theme

ROW_HEIGHT = 18
_SWATCH, _SPACING, _COLUMN_GAP = 11, 7, 20

NumberFormat = Callable[[float | None], str]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Attributes:
        key: Name of the number.
        label: What the reader sees.
        text: How the number is written.
        tool_tip: How it is written in full; None: no tool tip.
        swatch: What is painted before the label; None: nothing.
    """

    key: str
    label: str
    text: NumberFormat
    tool_tip: NumberFormat | None = None
    swatch: SliceKind | None = None

    @property
    def indent(self) -> int:
        """Where the label begins."""
        return 0 if self.swatch is None else _SWATCH + _SPACING


@dataclass(frozen=True, slots=True)
class _Line:
    """A row with the text of its number and the width that both need; then also with its place."""

    row: Row
    text: str
    width: int
    rect: QRect


class FigureTable(QWidget):
    """Rows with a swatch, a label and a number on the right; numbers that are not known are `-`."""

    def __init__(self, rows: Sequence[Row], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = tuple(rows)
        self._values: dict[str, float] = {}
        self._hidden: frozenset[str] = frozenset()
        self._lines: tuple[_Line, ...] = ()
        self._theme = theme
        self._label_font, self._number_font = _fonts(theme)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._arrange()

    def show_values(self, values: Mapping[str, float | None]) -> None:
        """Show numbers by key; those that are missing or None are not known."""
        known = {key: value for key, value in values.items() if value is not None}
        if known != self._values:
            self._values = known
            self._arrange()

    def hide_rows(self, keys: frozenset[str]) -> None:
        """Leave these rows out."""
        if keys != self._hidden:
            self._hidden = keys
            self._arrange()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        self._label_font, self._number_font = _fonts(theme)
        self._arrange()

    def values(self) -> dict[str, float]:
        """The numbers that are shown, by key."""
        shown = (line.row.key for line in self._lines)
        return {key: self._values[key] for key in shown if key in self._values}

    def text_of(self, key: str) -> str:
        """The number of a row as it is painted."""
        return next(line.text for line in self._lines if line.row.key == key)

    def summary(self) -> str:
        """The table as a sentence."""
        return ", ".join(f"{line.row.label} {line.text}" for line in self._lines)

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, max((line.rect.bottom() + 1 for line in self._lines), default=0))

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_swatches(painter)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._label_font)
        painter.setPen(self._theme.color("text_secondary"))
        for line in self._lines:
            label_rect = line.rect.adjusted(line.row.indent, 0, 0, 0)
            painter.drawText(label_rect, middle | Qt.AlignmentFlag.AlignLeft, line.row.label)
        painter.setFont(self._number_font)
        painter.setPen(self._theme.color("text_primary"))
        for line in self._lines:
            painter.drawText(line.rect, middle | Qt.AlignmentFlag.AlignRight, line.text)
        painter.end()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tool_tip_at(event.pos()), self)
            return True
        return super().event(event)

    def tool_tip_at(self, point: QPoint) -> str:
        """The number of the row at a point, written in full; empty where there is none."""
        for line in self._lines:
            if line.rect.contains(point) and line.row.tool_tip is not None:
                return f"{line.row.label}: {line.row.tool_tip(self._values.get(line.row.key))}"
        return ""

    def _arrange(self) -> None:
        """Write and place all rows anew; the widget asks for another height only if it needs one."""
        height = self.sizeHint().height()
        self._lines = self._placed([self._measured(row) for row in self._rows if row.key not in self._hidden])
        self.setAccessibleDescription(self.summary())
        if self.sizeHint().height() != height:
            self.updateGeometry()
        self.update()

    def _measured(self, row: Row) -> _Line:
        text = row.text(self._values.get(row.key))
        label_width = QFontMetrics(self._label_font).horizontalAdvance(row.label)
        number_width = QFontMetrics(self._number_font).horizontalAdvance(text)
        return _Line(row, text, row.indent + label_width + _SPACING + number_width, QRect())

    def _placed(self, lines: Sequence[_Line]) -> tuple[_Line, ...]:
        """Two columns if both fit side by side, the second as far right as the first needs; else one column."""
        half = (len(lines) + 1) // 2
        first, second = (max((line.width for line in part), default=0) for part in (lines[:half], lines[half:]))
        room = self.width() - _COLUMN_GAP
        if first + second > room:
            return _column(lines, 0, self.width())
        width = min(max(room // 2, first), room - second)
        left = width + _COLUMN_GAP
        return _column(lines[:half], 0, width) + _column(lines[half:], left, self.width() - left)

    def _paint_swatches(self, painter: QPainter) -> None:
        for line in self._lines:
            if line.row.swatch is not None:
                top = line.rect.top() + (ROW_HEIGHT - _SWATCH) // 2
                fills.swatch(painter, QRect(line.rect.left(), top, _SWATCH, _SWATCH), line.row.swatch, self._theme)


def _column(lines: Sequence[_Line], left: int, width: int) -> tuple[_Line, ...]:
    rects = (QRect(left, ROW_HEIGHT * index, width, ROW_HEIGHT) for index in range(len(lines)))
    return tuple(_Line(line.row, line.text, line.width, rect) for line, rect in zip(lines, rects, strict=True))


def _fonts(theme: Theme) -> tuple[QFont, QFont]:
    """The font of labels and that of numbers, whose figures are all of one width."""
    label, number = theme.font("small"), theme.font("small")
    number.setWeight(QFont.Weight.Medium)
    number.setFeature(QFont.Tag("tnum"), 1)
    return label, number
