"""The middle of the window: the panes, their tabs while they take turns, a notice while there is something to say.

GUI thread. The notice gets what the panes do not need: its words scroll before a composer loses a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.chat.pane_area import PaneArea
from pagedesk.ui.chat.pane_tabs import PaneTabs
from pagedesk.ui.notice import Notice

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent


class Centre(QWidget):
    """Notice, tabs and panes, one below the other."""

    def __init__(self, notice: Notice, tabs: PaneTabs, panes: PaneArea) -> None:
        super().__init__()
        self.setObjectName("paneArea")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._notice = notice
        self._tabs = tabs
        self._panes = panes
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(notice)
        column.addWidget(tabs)
        column.addWidget(panes, 1)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        tabs = 0 if self._tabs.isHidden() else self._tabs.sizeHint().height()
        room = self.height() - tabs - self._panes.wanted_height
        self._notice.setMaximumHeight(max(self._notice.least_height, room))
