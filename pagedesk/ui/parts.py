"""Small widgets under the names that the style sheet knows them by.

GUI thread.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton, QWidget


def label(parent: QWidget, name: str, text: str = "") -> QLabel:
    """A line of text, shown as it is; `name` is `secondary` or `muted`."""
    made = QLabel(text, parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setObjectName(name)
    return made


def icon_button(parent: QWidget, name: str, size: int) -> QToolButton:
    """A square button for an icon."""
    made = QToolButton(parent)
    made.setObjectName(name)
    made.setFixedSize(size, size)
    return made
