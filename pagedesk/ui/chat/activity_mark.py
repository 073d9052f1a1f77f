"""The mark of what a chat does, beside its title: a spinner and a word while a reply is under way.

GUI thread; painted. The spinner turns only while it can be seen.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from pagedesk.ui.chat.conversation import Activity
from pagedesk.ui.icons import pixmap
from pagedesk.ui.painting import SPINNER_FRAME_MS, draw_spinner
from pagedesk.ui.theme import Theme

_ICON = 14
_GAP = 6


def activity_text(activity: Activity) -> str:
    """The word for what a chat does; empty if it does nothing."""
    translate = QCoreApplication.translate
    words = {
        Activity.IDLE: "",
        Activity.QUEUED: translate("activity", "sent"),
        Activity.READING: translate("activity", "reading"),
        Activity.WAITING: translate("activity", "waiting"),
        Activity.WRITING: translate("activity", "writing"),
    }
    return words[activity]


class ActivityMark(QWidget):
    """Spinner or hourglass, and a word; nothing while the chat is idle."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._activity = Activity.IDLE
        self._color_index = 0
        self._spinning = QTimer(self, interval=SPINNER_FRAME_MS)
        self._spinning.timeout.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The word that it shows."""
        return activity_text(self._activity)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    def show_activity(self, activity: Activity, color_index: int) -> None:
        """Show what the chat does, in its colour."""
        self._activity, self._color_index = activity, color_index
        self.setAccessibleName(self.text)
        self.setVisible(activity is not Activity.IDLE)
        if activity in (Activity.READING, Activity.WRITING):
            self._spinning.start()
        else:
            self._spinning.stop()
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        words = QFontMetrics(self._theme.font("small")).horizontalAdvance(self.text)
        return QSize(_ICON + _GAP + words + 2, 18)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            is_waiting = self._activity in (Activity.WAITING, Activity.QUEUED)
            color = self._theme.color("warning" if self._activity is Activity.WAITING else "text_secondary")
            top = (self.height() - _ICON) // 2
            if is_waiting:
                painter.drawPixmap(0, top, pixmap("hourglass", color, _ICON, self.devicePixelRatioF()))
            else:
                chat_color = self._theme.chat_color(self._color_index)
                draw_spinner(painter, QRectF(0, top, _ICON, _ICON), self._theme, chat_color)
            painter.setPen(color)
            painter.setFont(self._theme.font("small"))
            place = QRect(_ICON + _GAP, 0, self.width(), self.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self.text)
