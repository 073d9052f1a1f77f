"""The words that the reader marks with the mouse, within one message.

GUI thread; a value of the transcript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagedesk.ui.chat.message_row import MessageRow

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF


class TextSelection:
    """A range of the words of one row, from where the mouse was pressed; points are in the row's coordinates."""

    def __init__(self, row: MessageRow, point: QPointF) -> None:
        self.row = row
        self._anchor = self._end = self._position(point)

    def extend(self, point: QPointF) -> None:
        """The mouse is here now."""
        self._end = self._position(point)

    def range_in(self, row: MessageRow) -> tuple[int, int] | None:
        """The range if it lies in this row and is not empty."""
        if row is not self.row or self._anchor == self._end:
            return None
        return min(self._anchor, self._end), max(self._anchor, self._end)

    def text(self) -> str:
        """The words."""
        marked = self.range_in(self.row)
        return self.row.body.selected_text(*marked) if marked else ""

    def _position(self, point: QPointF) -> int:
        return max(0, self.row.body.position_at(point - self.row.body_origin))
