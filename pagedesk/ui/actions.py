"""What the user can do anywhere in the window, and the keys for it.

GUI thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_NUM_PANE_KEYS = 9


class WindowActions(QObject):
    """The actions of a window; the window connects them.

    Args:
        window: Its keys work in the whole of it.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.new_chat = self._action(self.tr("New chat"), "Ctrl+N", "Ctrl+Shift+O")
        self.split = self._action(self.tr("Open a chat beside"), "Ctrl+\\")
        self.close_pane = self._action(self.tr("Close this pane"), "Ctrl+W")
        self.search = self._action(self.tr("Search chats"), "Ctrl+K")
        self.stop = self._action(self.tr("Stop the reply"), "Esc")
        self.sidebar = PanelAction(window, self.tr("Show the chats"), self.tr("Hide the chats"), "Ctrl+B")
        self.gauge = PanelAction(window, self.tr("Show the gauge"), self.tr("Hide the gauge"), "Ctrl+M")
        self.next_part = self._action(self.tr("Go to the next part of the window"), "F6")
        self.previous_part = self._action(self.tr("Go to the part before"), "Shift+F6")
        self.quit = self._action(self.tr("Quit"), "Ctrl+Q")

    def add_pane_keys(self, focus_pane: Callable[[int], None]) -> None:
        """Alt+1 to Alt+9 go to the panes, counted from the left."""
        for index in range(_NUM_PANE_KEYS):
            action = self._action(self.tr("Go to pane {number}").format(number=index + 1), f"Alt+{index + 1}")
            action.triggered.connect(lambda _checked=False, index=index: focus_pane(index))

    def _action(self, text: str, *keys: str) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setToolTip(_with_key(text, keys[0]))
        self._window.addAction(action)
        return action


class PanelAction(QAction):
    """Shows or hides a panel; its mark and its words follow what can be seen."""

    def __init__(self, window: QWidget, show_text: str, hide_text: str, key: str) -> None:
        super().__init__(window)
        self._show_text, self._hide_text, self._key = show_text, hide_text, key
        self.setShortcut(QKeySequence(key))
        self.setCheckable(True)
        self.show_state(is_shown=True)
        window.addAction(self)

    def show_state(self, *, is_shown: bool) -> None:
        """Tell whether the panel can be seen."""
        self.setChecked(is_shown)
        self.setText(self._hide_text if is_shown else self._show_text)
        self.setToolTip(_with_key(self.text(), self._key))


def _with_key(text: str, key: str) -> str:
    return f"{text} ({QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)})"
