"""The ring around a widget that has the keyboard, for widgets that the style sheet cannot put one around.

GUI thread. Shown when the focus came by a key; a click needs no ring, the reader knows where he clicked. Its widget
tells it of each event, see `Ringed`: it watches none itself, because the last one comes while the widget is being
destroyed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QWidget
from typing_extensions import override

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QResizeEvent

    _Widget = QWidget
else:
    _Widget = object  # Qt allows one widget among the bases of a class, and that one comes after this mix-in

_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_FOR_A_WHILE = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class FocusRing(QFrame):
    """Lies over its widget, inside the edges, and lets the mouse through."""

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def follow(self, event: QFocusEvent) -> None:
        """The widget got the keyboard, or lost it."""
        if event.reason() not in _FOR_A_WHILE:
            self.raise_()
            self.setVisible(event.gotFocus() and event.reason() in _BY_KEY)

    def fit(self, size: QSize) -> None:
        """The widget has this size now."""
        self.resize(size)


class Ringed(_Widget):
    """Mix-in, before the Qt class: a ring around the whole widget. Its `__init__` makes it: `FocusRing(self)`."""

    _ring: FocusRing

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ring.fit(self.size())

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._ring.follow(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._ring.follow(event)
