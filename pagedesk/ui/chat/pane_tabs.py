"""The tabs over the panes, shown while some of them are hidden for want of width.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QWidget

from pagedesk.ui.painting import draw_chip
from pagedesk.ui.theme import Theme

_CHIP = 10
_MAX_TITLE = 60


class PaneTabs(QWidget):
    """A tab for each pane, left to right, the one of the pane in use marked.

    Signals:
        chosen: The index of a pane.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("paneTabs")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._chats: list[tuple[str, int]] = []
        self.bar = QTabBar(self)
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideRight)
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.bar.setAccessibleName(self.tr("Open chats"))
        self.bar.currentChanged.connect(self.chosen)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 0, 6, 0)
        row.addWidget(self.bar)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self._fill()

    def show_chats(self, chats: Sequence[tuple[str, int]], current: int) -> None:
        """Show the chats of the panes by title and colour, and which pane is in use."""
        if list(chats) != self._chats:
            self._chats = list(chats)
            self._fill()
        with QSignalBlocker(self.bar):
            self.bar.setCurrentIndex(current)

    def _fill(self) -> None:
        with QSignalBlocker(self.bar):
            current = self.bar.currentIndex()
            while self.bar.count():
                self.bar.removeTab(0)
            for title, color_index in self._chats:
                shown = title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE]}\u2026"
                self.bar.addTab(self._chip(color_index), shown.replace("&", "&&"))  # "&" alone would underline
            self.bar.setCurrentIndex(current)

    def _chip(self, color_index: int) -> QIcon:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(_CHIP * ratio), round(_CHIP * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            draw_chip(painter, QRectF(0, 0, _CHIP, _CHIP), self._theme, color_index)
        return QIcon(picture)
