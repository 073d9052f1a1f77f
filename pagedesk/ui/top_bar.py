"""The bar over the panes: sidebar button, model picker, gauge button.

GUI thread. A widget: it shows and emits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.icons import icon
from pagedesk.ui.model_picker import ModelPicker
from pagedesk.ui.parts import icon_button
from pagedesk.ui.theme import Theme, tokens

if TYPE_CHECKING:
    from PySide6.QtGui import QAction


class TopBar(QWidget):
    """44 pixels high. The two buttons are those of the window's actions, so keys and buttons agree."""

    def __init__(self, theme: Theme, state: EngineState, sidebar: QAction, gauge: QAction) -> None:
        super().__init__()
        self.setObjectName("topBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(tokens()["size"]["top_bar"])
        self.picker = ModelPicker(theme, state, self)
        self._sidebar, self._gauge = sidebar, gauge
        self.set_theme(theme)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 4)
        row.setSpacing(8)
        row.addWidget(self._button(sidebar))
        row.addWidget(self.picker)
        row.addStretch()
        row.addWidget(self._button(gauge))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.picker.set_theme(theme)
        self._sidebar.setIcon(icon("panel-left", theme.color("text_secondary")))
        self._gauge.setIcon(icon("panel-right", theme.color("text_secondary")))

    def _button(self, action: QAction) -> QToolButton:
        button = icon_button(self, "panel", 26)
        button.setDefaultAction(action)
        button.setAccessibleName(action.text())
        action.changed.connect(lambda: button.setAccessibleName(action.text()))
        return button
