"""A panel at one side of the window: beside the panes where there is room, else over them for as long as it is needed.

GUI thread. Knows neither what is in the panel nor how the room is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QWidget

if TYPE_CHECKING:
    from pagedesk.ui.actions import PanelAction


class SidePanel(QObject):
    """Shows and hides a panel as the user asks and the width allows; its action always tells what can be seen.

    Args:
        panel: A part of `splitter`, its first or its last.
        whole: What holds the splitter; the panel over the panes is a child of it.
        action: Shows and hides the panel.
        width: Of the panel over the panes.

    Signals:
        asked: The user wants it, or wants it no more: the room is to be dealt out anew.
    """

    asked = Signal()

    def __init__(self, panel: QWidget, splitter: QSplitter, whole: QWidget, action: PanelAction, width: int) -> None:
        super().__init__(splitter)
        self._panel, self._splitter, self._action, self._width = panel, splitter, action, width
        self._is_first = splitter.indexOf(panel) == 0
        self._is_wanted = True
        self._is_over = False
        self._whole = whole
        self._cover = _Cover(whole)
        action.triggered.connect(self._toggle)

    @property
    def is_wanted(self) -> bool:
        """Whether it is to stand beside the panes where there is room."""
        return self._is_wanted

    @property
    def is_over(self) -> bool:
        """Whether it lies over the panes now."""
        return self._is_over

    def open(self) -> None:
        """Show it, in one way or the other."""
        if self._panel.isHidden():
            self._is_wanted = self._is_over = True
            self.asked.emit()

    def uncover(self) -> bool:
        """Take it off the panes; tells whether it lay there."""
        was_over, self._is_over = self._is_over, False
        if was_over:
            self.asked.emit()
        return was_over

    def fit(self, *, has_room: bool) -> None:
        """There is room beside the panes, or there is none."""
        self._is_over = self._is_over and not has_room
        if self._is_over:
            self._lay_over()
        else:
            self._put_beside(is_shown=has_room and self._is_wanted)
        self._action.show_state(is_shown=not self._panel.isHidden())

    def _toggle(self) -> None:
        if self._panel.isHidden():
            self.open()
        elif not self.uncover():
            self._is_wanted = False
            self.asked.emit()

    def _lay_over(self) -> None:
        room = self._splitter.geometry()
        left = 0 if self._is_first else self._whole.width() - self._width
        self._cover.setGeometry(QRect(left, room.top(), self._width, room.height()))
        self._cover.take(self._panel)
        self._panel.show()
        self._cover.show()
        self._cover.raise_()

    def _put_beside(self, *, is_shown: bool) -> None:
        self._cover.hide()
        if self._panel.parentWidget() is not self._splitter:
            self._splitter.insertWidget(0 if self._is_first else self._splitter.count(), self._panel)
        self._panel.setVisible(is_shown)


class _Cover(QFrame):
    """The ground and the edge of a panel that lies over the panes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("sideCover")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(1, 0, 1, 0)
        self.hide()

    def take(self, panel: QWidget) -> None:
        """Hold the panel."""
        if panel.parentWidget() is not self:
            self._row.addWidget(panel)
