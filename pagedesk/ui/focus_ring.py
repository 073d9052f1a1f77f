"""The ring around a widget that has the keyboard, for widgets that the style sheet cannot put one around.

GUI thread. Shown when the focus came by a key; a click needs no ring, the reader knows where he clicked.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QWidget
from typing_extensions import override

_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_FOR_A_WHILE = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class FocusRing(QFrame):
    """Lies over its widget, inside the edges, and lets the mouse through."""

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self._target = target
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        target.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.reason() not in _FOR_A_WHILE:
            self._show(by_key=event.gotFocus() and event.reason() in _BY_KEY)
        elif event.type() == QEvent.Type.Resize:
            self._fit()
        return False

    def _show(self, *, by_key: bool) -> None:
        self._fit()
        self.raise_()
        self.setVisible(by_key)

    def _fit(self) -> None:
        self.setGeometry(self._target.rect())
