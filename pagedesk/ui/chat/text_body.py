"""The words of one message, laid out: plain text in paragraphs, in a document of its own.

GUI thread. Text is shown as it is: tags and Markdown stay characters. An empty line starts a paragraph.
"""

from __future__ import annotations

import re
from typing import cast

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)

from pagedesk.ui.text_style import body_style, is_japanese
from pagedesk.ui.theme import Theme

_PARAGRAPH_GAP = 8
_LINE_BREAKS = re.compile(r"(\n+)")


class TextBody:
    """A text that can grow at its end."""

    def __init__(self, theme: Theme, text: str) -> None:
        self._theme = theme
        self._text = text
        self._width = 0.0
        self._rebuild()

    @property
    def height(self) -> float:
        """Height in pixels at the width that was set; 0 without words."""
        return self._document.size().height() if self._text else 0.0

    def set_width(self, width: float) -> None:
        """Lay the text out anew."""
        if width != self._width:
            self._width = width
            self._document.setTextWidth(width)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours; fonts may differ too."""
        self._theme = theme
        self._rebuild()

    def append(self, text: str) -> float:
        """Add to the end; only the last paragraph is laid out again.

        Returns:
            How many pixels from the top look as they did: all lines but the last.
        """
        self._text += text
        if is_japanese(text) and not self._is_japanese:
            self._rebuild()
            return 0.0
        unchanged = self.end_of_text().y()
        self._write(text)
        return unchanged

    def paint(self, painter: QPainter, selection: tuple[int, int] | None = None) -> None:
        """Draw at the painter's origin; `selection` is a range of document positions."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, self._theme.color("text_primary"))
        if selection is not None:
            context.selections = [self._selected(*selection)]
        clip = painter.clipBoundingRect()
        if clip.isValid():
            context.clip = clip
        self._document.documentLayout().draw(painter, context)

    def end_of_text(self) -> QRectF:
        """Where the next character would stand: an empty rectangle of the line's height."""
        block = self._document.lastBlock()
        layout = block.layout()
        if layout.lineCount() == 0:
            return QRectF(0, 0, 0, self._line_height)
        line = layout.lineAt(layout.lineCount() - 1)
        x, _ = cast("tuple[float, int]", line.cursorToX(block.length() - 1))
        return QRectF(x, layout.position().y() + line.y(), 0, line.height())

    def position_at(self, point: QPointF) -> int:
        """The document position nearest to a point."""
        return self._document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)

    def selected_text(self, start: int, end: int) -> str:
        """The words between two document positions."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    def _selected(self, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        selected = QAbstractTextDocumentLayout.Selection()
        selected.cursor = QTextCursor(self._document)
        selected.cursor.setPosition(start)
        selected.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        selected.format.setBackground(self._theme.color("selection_bg"))
        selected.format.setForeground(self._theme.color("selection_text"))
        return selected

    def _rebuild(self) -> None:
        self._is_japanese = is_japanese(self._text)
        style = body_style(self._theme, self._text)
        self._line_height = style.line_height
        self._num_breaks = 0
        self._document = QTextDocument()
        self._document.setUndoRedoEnabled(False)
        self._document.setDocumentMargin(0)
        self._document.setDefaultFont(style.font)
        self._document.setDefaultTextOption(_wrapping())
        self._write(self._text)
        self._document.setTextWidth(self._width or -1)

    def _write(self, text: str) -> None:
        """Insert at the end; line breaks are held back until words follow, so that none trails."""
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for piece in _LINE_BREAKS.split(text.replace("\r", "")):  # or "\r\n" would be two breaks
            if piece.startswith("\n"):
                self._num_breaks += len(piece)
            elif piece:
                self._open_block(cursor)
                cursor.insertText(piece)
        cursor.endEditBlock()

    def _open_block(self, cursor: QTextCursor) -> None:
        form = QTextBlockFormat()
        form.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        if self._document.isEmpty():
            cursor.setBlockFormat(form)
        elif self._num_breaks:
            form.setTopMargin(_PARAGRAPH_GAP if self._num_breaks > 1 else 0)
            cursor.insertBlock(form)
        self._num_breaks = 0


def _wrapping() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option
