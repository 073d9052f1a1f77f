"""The panes side by side: which chats are open, which pane is in use.

GUI thread. A chat is open in one pane at most. Where the width does not suffice,
the rightmost panes take turns. Panes hold no chats of their own: they are asked of the controller.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from pagedesk.ui.chat.controller import ChatController
from pagedesk.ui.chat.pane import Pane
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.theme import Theme


class PaneArea(QSplitter):
    """One to many panes.

    Signals:
        panes_changed: The chats in the panes, or the pane in use, changed.
    """

    panes_changed = Signal()

    def __init__(self, theme: Theme, state: EngineState, controller: ChatController) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName("paneArea")
        self._theme = theme
        self._state = state
        self._controller = controller
        self._panes: list[Pane] = []
        self._focused: Pane | None = None
        self._most_shown = 1
        self._used: list[Pane] = []
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        controller.chat_deleted.connect(self._on_deleted)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    @property
    def panes(self) -> list[Pane]:
        """Left to right."""
        return list(self._panes)

    @property
    def open_chats(self) -> list[str]:
        """The ids of the chats in the panes, left to right."""
        return [pane.conversation.chat_id for pane in self._panes]

    @property
    def focused(self) -> Pane | None:
        """The pane in use."""
        return self._focused

    @property
    def shown(self) -> list[Pane]:
        """The panes that have room, left to right; the pane in use is among them."""
        num_fixed = self._most_shown - 1
        if len(self._panes) <= self._most_shown:
            return list(self._panes)
        in_turn = self._panes[num_fixed:]
        return [*self._panes[:num_fixed], max(in_turn, key=self._last_use)]

    @property
    def wanted_height(self) -> int:
        """What the panes need to show their composers whole, and a little of their messages."""
        return max((pane.wanted_height for pane in self.shown), default=0)

    def show_chat(self, chat_id: str) -> None:
        """Show a chat: in its pane if it has one, else in the pane in use."""
        if chat_id in self.open_chats:
            self.focus(self.open_chats.index(chat_id))
        elif self._focused is None:
            self.show_beside(chat_id)
        else:
            self._replace(self._focused, chat_id)

    def show_beside(self, chat_id: str) -> None:
        """Open a chat in a new pane on the right of the pane in use."""
        if chat_id in self.open_chats:
            self.focus(self.open_chats.index(chat_id))
            return
        pane = Pane(self._theme, self._state, self._controller.conversation(chat_id))
        self._connect(pane)
        index = self._panes.index(self._focused) + 1 if self._focused is not None else len(self._panes)
        self._panes.insert(index, pane)
        self.insertWidget(index, pane)
        self._number()
        self.focus(index)
        self._share_width()

    def focus(self, index: int) -> None:
        """Put the caret into a pane, counted from the left; ignored if there is none."""
        if 0 <= index < len(self._panes):
            self._use(self._panes[index])
            self._panes[index].focus_composer()

    def close_pane(self, pane: Pane) -> None:
        """Close a pane; its chat goes on. The last one stays."""
        if len(self._panes) > 1 and pane in self._panes:
            index = self._panes.index(pane)
            self._remove(pane)
            self.focus(min(index, len(self._panes) - 1))
            self._controller.discard_if_blank(pane.conversation.chat_id)

    def show_at_most(self, number: int) -> None:
        """There is room for so many panes, at least for one."""
        if number != self._most_shown:
            self._most_shown = number
            self._show_panes()
            self._share_width()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        for pane in self._panes:
            pane.set_theme(theme)

    def _replace(self, pane: Pane, chat_id: str) -> None:
        old = pane.conversation.chat_id
        pane.set_conversation(self._controller.conversation(chat_id))
        self._controller.focus(chat_id)
        pane.focus_composer()
        self.panes_changed.emit()
        self._controller.discard_if_blank(old)

    def _remove(self, pane: Pane) -> None:
        self._panes.remove(pane)
        self._used = [each for each in self._used if each is not pane]
        if self._focused is pane:
            self._focused = None
        pane.setParent(None)
        pane.deleteLater()
        self._show_panes()
        self._share_width()
        self._number()
        self.panes_changed.emit()

    def _use(self, pane: Pane) -> None:
        if pane is self._focused:
            return
        self._focused = pane
        self._used = [*(each for each in self._used if each is not pane), pane]
        self._show_panes()
        for each in self._panes:
            each.set_focused(has_focus=each is pane)
        self._controller.focus(pane.conversation.chat_id)
        self.panes_changed.emit()

    def _last_use(self, pane: Pane) -> int:
        return self._used.index(pane) if pane in self._used else -1

    def _show_panes(self) -> None:
        """Show those that have room; the keyboard goes first, or Qt would give it to any other widget."""
        shown = self.shown
        for pane in shown:
            pane.show()
        for pane in self._panes:
            if pane not in shown:
                if self._focused is not None and pane.isAncestorOf(self.window().focusWidget()):
                    self._focused.focus_composer()
                pane.hide()

    def _number(self) -> None:
        for index, pane in enumerate(self._panes):
            pane.set_first(is_first=index == 0, is_only=len(self._panes) == 1)

    def _share_width(self) -> None:
        self.setSizes([1000] * len(self._panes))

    def _connect(self, pane: Pane) -> None:
        pane.asked.connect(lambda text: self._ask(pane, text))
        pane.stop_asked.connect(lambda: self._controller.stop(pane.conversation.chat_id))
        pane.renamed.connect(lambda title: self._controller.rename(pane.conversation.chat_id, title))
        pane.system_prompt_written.connect(lambda text: self._set_system_prompt(pane, text))
        pane.delete_asked.connect(lambda: self._controller.delete(pane.conversation.chat_id))
        pane.close_asked.connect(lambda: self.close_pane(pane))

    def _ask(self, pane: Pane, text: str) -> None:
        was_written = text == pane.conversation.draft  # else it was suggested, and the draft is another thought
        if self._controller.ask(pane.conversation.chat_id, text):
            if was_written:
                pane.clear_composer()
            pane.focus_composer()

    def _set_system_prompt(self, pane: Pane, text: str) -> None:
        if not self._controller.set_system_prompt(pane.conversation.chat_id, text):
            pane.header.edit_system_prompt(text)  # what was written stays, as it does in the composer

    def _on_deleted(self, chat_id: str) -> None:
        """Close the pane of a chat that is gone; the last pane gets a fresh chat."""
        if chat_id not in self.open_chats:
            return
        pane = self._panes[self.open_chats.index(chat_id)]
        if len(self._panes) > 1:
            self._remove(pane)
            self.focus(0)
        elif (fresh := self._controller.new_chat()) is not None:
            pane.set_conversation(self._controller.conversation(fresh))
            self.panes_changed.emit()
        else:
            self._remove(pane)

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        pane = next((pane for pane in self._panes if new is not None and pane.isAncestorOf(new)), None)
        if pane is not None:
            self._use(pane)
