"""The messages of one chat, painted in a scrolling area.

GUI thread. Every message has a layout of its own; a reply that grows lays out its own last paragraph alone. The end
is followed until the reader scrolls up, and again once he is back; a change of size never stops it.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget
from typing_extensions import override

from pagedesk.ui.chat.conversation import Conversation
from pagedesk.ui.chat.message_row import MessageRow
from pagedesk.ui.chat.text_selection import TextSelection
from pagedesk.ui.focus_ring import FocusRing, Ringed
from pagedesk.ui.theme import Theme, tokens

FOLLOW_DISTANCE = 48
_MARGIN = 14
_GAP = 12
_COPIED_MS = 1200


class Transcript(Ringed, QAbstractScrollArea):
    """Shows a conversation and follows it.

    Signals:
        clicked: It was clicked and nothing was marked.
        typed: A key that writes was pressed while it had the keyboard.
    """

    clicked = Signal()
    typed = Signal(QKeyEvent)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversation: Conversation | None = None
        self._rows: list[MessageRow] = []
        self._tops: list[int] = []
        self._selection: TextSelection | None = None
        self._follows = True
        self._is_placing = False
        self._copied_timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied_timer.timeout.connect(self._forget_copied)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Messages"))
        self._ring = FocusRing(self)
        self.verticalScrollBar().setSingleStep(40)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def set_conversation(self, conversation: Conversation) -> None:
        """Show another chat, from its end."""
        if self._conversation is not None:
            self._let_go(self._conversation)
        self._conversation = conversation
        self._selection = None
        conversation.message_added.connect(self._on_added)
        conversation.text_grew.connect(self._on_grown)
        conversation.message_changed.connect(self._on_changed)
        self._rows = [MessageRow(self._theme, conversation, message) for message in conversation.messages]
        self._follows = True
        self._lay_out()

    def _let_go(self, conversation: Conversation) -> None:
        conversation.message_added.disconnect(self._on_added)
        conversation.text_grew.disconnect(self._on_grown)
        conversation.message_changed.disconnect(self._on_changed)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        for row in self._rows:
            row.set_theme(theme)
        self._lay_out()

    def selected_text(self) -> str:
        """The words that are marked."""
        return self._selection.text() if self._selection else ""

    def _on_added(self, index: int) -> None:
        assert self._conversation is not None
        row = MessageRow(self._theme, self._conversation, self._conversation.messages[index])
        row.lay_out(self._column().width())
        self._rows.append(row)
        self._follows = True
        self._place()
        self.viewport().update()

    def _on_grown(self, index: int, text: str) -> None:
        self._after_change(index, self._rows[index].append(text))

    def _on_changed(self, index: int) -> None:
        if index < len(self._rows):
            self._rows[index].measure()
            self._after_change(index, 0)

    def _after_change(self, index: int, dirty_from: int) -> None:
        """Stack the rows anew, and paint one from its pixel `dirty_from` on, with what stands below it."""
        self._place()
        dirty = self._row_rect(index).adjusted(0, dirty_from, 0, 0)
        dirty.setBottom(self.viewport().height())
        self.viewport().update(dirty)

    def _column(self) -> QRect:
        """Where the text stands in the viewport, at most as wide as a line reads well."""
        room = self.viewport().width() - 2 * _MARGIN
        width = max(1, min(room, tokens()["size"]["pane"]["text_max"]))
        return QRect((self.viewport().width() - width) // 2, _MARGIN, width, 0)

    def _lay_out(self) -> None:
        for row in self._rows:
            row.lay_out(self._column().width())
        self._place()
        self.viewport().update()

    def _place(self) -> None:
        """Stack the rows and fit the scroll bar to them; the end stays in sight while it is followed."""
        bottoms = list(accumulate((row.height + _GAP for row in self._rows), initial=_MARGIN))
        self._tops = bottoms[:-1]
        page, bar = self.viewport().height(), self.verticalScrollBar()
        was_placing, self._is_placing = self._is_placing, True  # a bar that appears changes the width: this runs again
        bar.setPageStep(page)
        bar.setRange(0, max(0, bottoms[-1] - page))
        if self._follows:
            bar.setValue(bar.maximum())
        self._is_placing = was_placing

    def _row_rect(self, index: int) -> QRect:
        """A row in the coordinates of the viewport, with the copy button that stands out of it."""
        top = self._tops[index] - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._rows[index].height + 1)

    def _row_at(self, point: QPoint) -> tuple[MessageRow, QPointF] | None:
        """The row under or above a point of the viewport, and the point in the row's coordinates."""
        y = point.y() + self.verticalScrollBar().value()
        index = bisect_right(self._tops, y) - 1
        if index < 0:
            return None
        return self._rows[index], QPointF(point.x() - self._column().x(), y - self._tops[index])

    def _forget_copied(self) -> None:
        for row in self._rows:
            row.is_copied = False
        self.viewport().update()

    @override
    def minimumSizeHint(self) -> QSize:
        """It gives way to the composer."""
        return QSize(0, 0)

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Move what is painted already; only what comes into sight is painted anew."""
        self.viewport().scroll(dx, dy)
        if not self._is_placing:
            bar = self.verticalScrollBar()
            self._follows = bar.maximum() - bar.value() <= FOLLOW_DISTANCE

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows that can be seen."""
        with QPainter(self.viewport()) as painter:
            painter.setClipRect(event.rect())  # tells the rows what to leave out; Qt's own clip cannot be asked for
            painter.fillRect(event.rect(), self._theme.color("bg_pane"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            first = max(0, bisect_right(self._tops, event.rect().top() + self.verticalScrollBar().value()) - 1)
            for index in range(first, len(self._rows)):
                place = self._row_rect(index)
                if place.top() > event.rect().bottom():
                    break
                self._paint_row(painter, index, place)

    def _paint_row(self, painter: QPainter, index: int, place: QRect) -> None:
        row = self._rows[index]
        painter.save()
        painter.translate(self._column().x(), place.top())
        row.paint(painter, self._selection.range_in(row) if self._selection else None)
        painter.restore()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text to the new width."""
        super().resizeEvent(event)
        self._lay_out()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Press the copy button, or begin to mark words."""
        found = self._row_at(event.position().toPoint())
        self._selection = None
        if found and event.button() is Qt.MouseButton.LeftButton:
            row, point = found
            if row.copy_button is not None and row.copy_button.contains(point.toPoint()):
                self._copy_row(row)
            else:
                self._selection = TextSelection(row, point)
        self.viewport().update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark words up to here; the pointer tells what a press would do."""
        if self._selection is not None and event.buttons() & Qt.MouseButton.LeftButton:
            row = self._selection.row
            top = self._tops[self._rows.index(row)] - self.verticalScrollBar().value()
            self._selection.extend(QPointF(event.position().x() - self._column().x(), event.position().y() - top))
            self.viewport().update()
        found = self._row_at(event.position().toPoint())
        on_button = found is not None and (found[0].copy_button or QRect()).contains(found[1].toPoint())
        shape = Qt.CursorShape.PointingHandCursor if on_button else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """What is marked can be copied with the keys; else the keys belong to the composer."""
        if not self.selected_text():
            self.clicked.emit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is marked; keys that write go to the composer, others scroll."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.selected_text():
            QGuiApplication.clipboard().setText(self.selected_text())
        elif event.matches(QKeySequence.StandardKey.Paste) or (event.text().isprintable() and event.text()):
            self.typed.emit(event)
        else:
            super().keyPressEvent(event)

    def _copy_row(self, row: MessageRow) -> None:
        QGuiApplication.clipboard().setText(row.message.text)
        row.is_copied = True
        self._copied_timer.start()
