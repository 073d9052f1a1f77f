"""One message of a transcript, laid out and painted: the user's as a card, a reply as plain text with its notes.

GUI thread; no widget. Its origin is its top left corner; the transcript decides where that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics

from pagedesk.chats.models import MessageState
from pagedesk.protocol import Role
from pagedesk.ui.chat.conversation import Conversation, ShownMessage
from pagedesk.ui.chat.reply_notes import card_of, figures_of, line_of, opening_of
from pagedesk.ui.chat.text_body import TextBody
from pagedesk.ui.icons import pixmap
from pagedesk.ui.text_style import figures_font
from pagedesk.ui.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

_CARD_PADDING = QPointF(12, 8)
_CARD_RADIUS = 8
_NOTE_GAP = 8
_LINE_HEIGHT = 22
_LINE_PADDING = 4
_WRAP = Qt.TextFlag.TextWordWrap
_FOOTER_GAP = 4
_BUTTON = 24
_BUTTON_ICON = 14
_CARET_WIDTH, _CARET_HEIGHT = 8, 16


class MessageRow:
    """A message at a width.

    Attributes:
        height: Pixels, after `lay_out`.
        is_copied: Whether the copy button shows that it was pressed.
    """

    def __init__(self, theme: Theme, conversation: Conversation, message: ShownMessage) -> None:
        self._theme = theme
        self._conversation = conversation
        self.message = message
        self.body = TextBody(theme, message.text)
        self.height = 0
        self.is_copied = False
        self._width = 0

    @property
    def body_origin(self) -> QPointF:
        """Where the words begin."""
        if self._is_card:
            return _CARD_PADDING
        opening = opening_of(self.message)
        return QPointF(0, 0 if opening is None else self._line_place(opening).height())

    @property
    def copy_button(self) -> QRect | None:
        """The place of the button that copies the reply; None where there is none."""
        if figures_of(self.message) is None:
            return None
        return QRect(-5, self.height - _BUTTON, _BUTTON, _BUTTON)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.body.set_theme(theme)

    def lay_out(self, width: int) -> None:
        """Find the height at a width."""
        self._width = width
        self.body.set_width(width - 2 * self.body_origin.x())
        self.measure()

    def append(self, text: str) -> int:
        """The reply grew; returns the pixel of its height from which it looks different."""
        unchanged = self.body.append(text)
        self.measure()
        return int(self.body_origin.y() + unchanged)

    def measure(self) -> None:
        """Find the height anew: words or state changed, the width did not."""
        height = self.body.height
        if (card := card_of(self._conversation, self.message)) is not None:
            height += (_NOTE_GAP if height else 0) + card.height(self._theme, self._width)
        elif (line := line_of(self._conversation, self.message)) is not None:
            height += self._line_place(line).height() + (_NOTE_GAP if height else 0)
        elif self._is_written and not height:
            height += _LINE_HEIGHT  # the caret before the first word
        if figures_of(self.message) is not None:
            height += _FOOTER_GAP + _BUTTON
        padding = self.body_origin.y() if self._is_card else 0
        self.height = round(self.body_origin.y() + height + padding)

    def paint(self, painter: QPainter, selection: tuple[int, int] | None) -> None:
        """Draw at the painter's origin; `selection` is a range of positions in the body."""
        if self._is_card:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("surface"))
            painter.drawRoundedRect(QRectF(0, 0, self._width, self.height), _CARD_RADIUS, _CARD_RADIUS)
        if (opening := opening_of(self.message)) is not None:
            self._paint_line(painter, 0, opening)
        painter.save()
        painter.translate(self.body_origin)
        self.body.paint(painter, selection)
        self._paint_note(painter)
        painter.restore()
        if (figures := figures_of(self.message)) is not None:
            self._paint_footer(painter, figures)

    @property
    def _is_card(self) -> bool:
        return self.message.role is Role.USER

    @property
    def _is_written(self) -> bool:
        return self.message.state is MessageState.WRITING

    def _line_place(self, line: str) -> QRect:
        """The room of a sentence above or below the words, as many lines as the width asks for."""
        room = QRect(0, 0, self._width, 1 << 20)
        lines = QFontMetrics(self._theme.font("small")).boundingRect(room, _WRAP, line)
        return QRect(0, 0, self._width, max(_LINE_HEIGHT, lines.height() + _LINE_PADDING))

    def _paint_note(self, painter: QPainter) -> None:
        top = round(self.body.height)
        if (card := card_of(self._conversation, self.message)) is not None:
            painter.save()
            painter.translate(0, top + (_NOTE_GAP if top else 0))
            card.paint(painter, self._theme, self._width)
            painter.restore()
        elif (line := line_of(self._conversation, self.message)) is not None:
            self._paint_line(painter, top + (_NOTE_GAP if top else 0), line)
        elif self._is_written:
            self._paint_caret(painter)

    def _paint_line(self, painter: QPainter, top: int, text: str) -> None:
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("text_muted"))
        painter.drawText(self._line_place(text).translated(0, top), _WRAP | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_caret(self, painter: QPainter) -> None:
        """The block where the next word will stand, in the colour of the chat."""
        end = self.body.end_of_text()
        left = min(end.x() + (4 if end.x() else 0), self._width - _CARET_WIDTH)
        top = end.y() + (end.height() - _CARET_HEIGHT) / 2 + 1
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.chat_color(self._conversation.color_index))
        painter.drawRoundedRect(QRectF(left, top, _CARET_WIDTH, _CARET_HEIGHT), 1, 1)

    def _paint_footer(self, painter: QPainter, figures: str) -> None:
        top = self.height - _BUTTON
        color = self._theme.color("success" if self.is_copied else "text_muted")
        name = "check" if self.is_copied else "copy"
        mark = pixmap(name, color, _BUTTON_ICON, painter.device().devicePixelRatioF())
        painter.drawPixmap(0, top + (_BUTTON - _BUTTON_ICON) // 2, mark)
        painter.setFont(figures_font(self._theme, "micro"))
        painter.setPen(self._theme.color("text_muted"))
        place = QRect(_BUTTON + 2, top, self._width - _BUTTON - 2, _BUTTON)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, figures)
