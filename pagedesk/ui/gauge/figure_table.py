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
        key: Name of the number, for `FigureTable.value`.
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


class FigureTable(QWidget):
    """Rows with a swatch, a label and a number on the right; numbers that are not known are `-`."""

    def __init__(self, rows: Sequence[Row], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = tuple(rows)
        self._values: dict[str, float] = {}
        self._hidden: frozenset[str] = frozenset()
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_values(self, values: Mapping[str, float | None]) -> None:
        """Show numbers by key; those that are missing or None are not known."""
        known = {key: value for key, value in values.items() if value is not None}
        if known == self._values:
            return
        self._values = known
        self.setAccessibleDescription(self.summary())
        self.updateGeometry()
        self.update()

    def hide_rows(self, keys: frozenset[str]) -> None:
        """Leave these rows out."""
        if keys != self._hidden:
            self._hidden = keys
            self.updateGeometry()
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        self.update()

    def values(self) -> dict[str, float]:
        """The numbers that are shown, by key."""
        shown = {row.key for row in self._shown_rows()}
        return {key: value for key, value in self._values.items() if key in shown}

    def text_of(self, key: str) -> str:
        """The number of a row as it is painted."""
        return next(row.text(self._values.get(key)) for row in self._rows if row.key == key)

    def summary(self) -> str:
        """The table as a sentence."""
        return ", ".join(f"{row.label} {self.text_of(row.key)}" for row in self._shown_rows())

    @override
    def sizeHint(self) -> QSize:
        columns = self._columns()
        height = max((len(column) for column in columns), default=0) * ROW_HEIGHT
        return QSize(self._width_of(self._shown_rows()), height)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for rect, row in self._placed_rows():
            self._paint_row(painter, rect, row)
        painter.end()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._tool_tip_at(event.pos()), self)
            return True
        return super().event(event)

    def _shown_rows(self) -> tuple[Row, ...]:
        return tuple(row for row in self._rows if row.key not in self._hidden)

    def _columns(self) -> list[tuple[Row, ...]]:
        """Two columns if both fit side by side, else one."""
        rows = self._shown_rows()
        half = (len(rows) + 1) // 2
        halves = [rows[:half], rows[half:]]
        fits = sum(self._width_of(column) for column in halves) + _COLUMN_GAP <= self.width()
        return halves if fits else [rows]

    def _placed_rows(self) -> list[tuple[QRect, Row]]:
        columns = self._columns()
        left, placed = 0, []
        for index, column in enumerate(columns):
            width = self.width() - left
            if index < len(columns) - 1:
                width = max((self.width() - _COLUMN_GAP) // 2, self._width_of(column))
                width = min(width, self.width() - _COLUMN_GAP - self._width_of(columns[-1]))
            placed += [(QRect(left, ROW_HEIGHT * line, width, ROW_HEIGHT), row) for line, row in enumerate(column)]
            left += width + _COLUMN_GAP
        return placed

    def _width_of(self, rows: Sequence[Row]) -> int:
        labels, numbers = QFontMetrics(self._label_font()), QFontMetrics(self._number_font())
        return max(
            (
                _indent(row)
                + labels.horizontalAdvance(row.label)
                + _SPACING
                + numbers.horizontalAdvance(self.text_of(row.key))
                for row in rows
            ),
            default=0,
        )

    def _paint_row(self, painter: QPainter, rect: QRect, row: Row) -> None:
        if row.swatch is not None:
            top = rect.top() + (ROW_HEIGHT - _SWATCH) // 2
            fills.swatch(painter, QRect(rect.left(), top, _SWATCH, _SWATCH), row.swatch, self._theme)
        painter.setFont(self._label_font())
        painter.setPen(self._theme.color("text_secondary"))
        label_rect = rect.adjusted(_indent(row), 0, 0, 0)
        painter.drawText(label_rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, row.label)
        painter.setFont(self._number_font())
        painter.setPen(self._theme.color("text_primary"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self.text_of(row.key))

    def _tool_tip_at(self, point: QPoint) -> str:
        for rect, row in self._placed_rows():
            if rect.contains(point) and row.tool_tip is not None:
                return f"{row.label}: {row.tool_tip(self._values.get(row.key))}"
        return ""

    def _label_font(self) -> QFont:
        return self._theme.font("small")

    def _number_font(self) -> QFont:
        font = self._theme.font("small")
        font.setWeight(QFont.Weight.Medium)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font


def _indent(row: Row) -> int:
    return 0 if row.swatch is None else _SWATCH + _SPACING
