"""The words of one message, laid out: plain text in paragraphs, in a document of its own.

GUI thread. Text is shown as it is: tags and Markdown stay characters. An empty line starts a paragraph.

Qt lays out a paragraph as a whole whenever it grows, and takes the square of its length for one without a space.
Therefore a long one is cut into several blocks when it grows or has such a run, each where a line begins anyway: it
looks the same, and only its last block is laid out again. Positions and copies know nothing of the cuts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
_MAX_BLOCK = 1000
"""Characters, and a line more. Fewer cost more blocks, more cost more steps along runs without a break."""

_UNBROKEN = re.compile("[^\\s/\\-?!\u2e80-\uffef]{300}")
"""A run in which a line can end nowhere but in the middle of a word."""

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
        if width == self._width:
            return
        self._width = width
        if self._needs_cuts:
            self._rebuild()  # lines begin elsewhere now, and so must blocks
        else:
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
        self._write(text, grows=True)
        return unchanged

    def paint(self, painter: QPainter, selection: tuple[int, int] | None = None) -> None:
        """Draw at the painter's origin; `selection` is a range of positions."""
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
        """The position nearest to a point; it stays the same words at any width."""
        place = self._document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
        return place - bisect_left(self._cut_places, place)

    def selected_text(self, start: int, end: int) -> str:
        """The words between two positions, as they were written."""
        inner = [cut for cut in self._cuts if start < cut < end]
        pieces = zip([start, *inner], [*inner, end], strict=True)
        return "".join(self._marked(*piece).selection().toPlainText() for piece in pieces)

    def _marked(self, start: int, end: int) -> QTextCursor:
        """What is between two positions in the document, the cuts at its ends left out."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(start + bisect_right(self._cuts, start))
        cursor.setPosition(end + bisect_left(self._cuts, end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _selected(self, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        selected = QAbstractTextDocumentLayout.Selection()
        selected.cursor = self._marked(start, end)
        selected.format.setBackground(self._theme.color("selection_bg"))
        selected.format.setForeground(self._theme.color("selection_text"))
        return selected

    def _rebuild(self) -> None:
        self._is_japanese = is_japanese(self._text)
        style = body_style(self._theme, self._text)
        self._line_height = style.line_height
        self._num_breaks = 0
        self._needs_cuts = False
        self._cuts: list[int] = []
        self._cut_places: list[int] = []
        self._document = QTextDocument()
        self._document.setUndoRedoEnabled(False)
        self._document.setDocumentMargin(0)
        self._document.setDefaultFont(style.font)
        self._document.setDefaultTextOption(_wrapping())
        if self._width:  # before there is one, nothing is laid out
            self._document.setTextWidth(self._width)
        self._write(self._text, grows=False)

    def _write(self, text: str, *, grows: bool) -> None:
        """Insert at the end; line breaks are held back until words follow, so that none trails."""
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for piece in _LINE_BREAKS.split(text.replace("\r", "")):  # or "\r\n" would be two breaks
            if piece.startswith("\n"):
                self._num_breaks += len(piece)
            elif piece:
                self._open_block(cursor)
                self._insert(cursor, piece, grows=grows)
        cursor.endEditBlock()

    def _insert(self, cursor: QTextCursor, text: str, *, grows: bool) -> None:
        """Insert into the last block, and cut off what makes it slow."""
        is_long = self._document.lastBlock().length() + len(text) > _MAX_BLOCK
        if not is_long or not (grows or _UNBROKEN.search(text)):
            cursor.insertText(text)
            return
        self._needs_cuts = True
        for start in range(0, len(text), _MAX_BLOCK):
            cursor.insertText(text[start : start + _MAX_BLOCK])
            if self._width:
                cursor.endEditBlock()  # lays out what was inserted
                cursor.beginEditBlock()
                self._cut(cursor)

    def _cut(self, cursor: QTextCursor) -> None:
        """Begin a block where the last line of the last block begins."""
        block = self._document.lastBlock()
        self._document.documentLayout().blockBoundingRect(block)  # or Qt may put its layout off
        layout = block.layout()
        if layout.lineCount() < 2:
            return
        place = block.position() + layout.lineAt(layout.lineCount() - 1).textStart()
        cursor.setPosition(place)
        cursor.insertBlock(self._block_format())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self._cuts.append(place - len(self._cuts))
        self._cut_places.append(place)

    def _open_block(self, cursor: QTextCursor) -> None:
        form = self._block_format()
        if self._document.isEmpty():
            cursor.setBlockFormat(form)
        elif self._num_breaks:
            form.setTopMargin(_PARAGRAPH_GAP if self._num_breaks > 1 else 0)
            cursor.insertBlock(form)
        self._num_breaks = 0

    def _block_format(self) -> QTextBlockFormat:
        form = QTextBlockFormat()
        form.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        return form


def _wrapping() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option
