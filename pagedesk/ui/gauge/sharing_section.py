"""The section that says what sharing blocks saves, and which chats share.

GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pagedesk.protocol import ChatBlocks
from pagedesk.ui.gauge.hover_card import ChatName
from pagedesk.ui.gauge.section import Section
from pagedesk.ui.gauge.units import UNKNOWN, count, exact_bytes, memory
from pagedesk.ui.theme import Theme


class SharingSection(Section):
    """One line: the bytes that would be held twice or more if no block was shared, and the chats that share blocks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("", theme)
        self._saved_bytes: int | None = None
        self._chats: Sequence[ChatBlocks] = ()
        self._names: Mapping[str, ChatName] = {}
        self.header.set_title(self.tr("Sharing"))
        self.clear()

    def set_chats(self, names: Mapping[str, ChatName]) -> None:
        """Take title and colour of each chat."""
        self._names = dict(names)
        self._name_chats()

    def show_saved(self, saved_bytes: int, chats: Sequence[ChatBlocks]) -> None:
        """Show the bytes saved now, and which of the chats share blocks."""
        self._saved_bytes = saved_bytes
        self._chats = [chat for chat in chats if chat.num_shared]
        text = self.tr("{size} saved").format(size=memory(saved_bytes))
        self.header.set_right(text, color="success" if saved_bytes else None)
        self._name_chats()

    def clear(self) -> None:
        """Nothing is known."""
        self._saved_bytes = None
        self._chats = ()
        self.header.set_right(UNKNOWN)
        self._name_chats()

    def figures(self) -> dict[str, int]:
        """The bytes saved, if they are known."""
        return {} if self._saved_bytes is None else {"saved_bytes": self._saved_bytes}

    def _name_chats(self) -> None:
        """The titles beside the word, most shared first; in the tool tip a line for each with its shared blocks."""
        chats = sorted(self._chats, key=lambda chat: (-chat.num_shared, self._title(chat)))
        self.header.set_note(", ".join(self._title(chat) for chat in chats))
        lines = [] if self._saved_bytes is None else [exact_bytes(self._saved_bytes)]
        blocks = self.tr("{title}: {number} shared blocks")
        lines += [blocks.format(title=self._title(chat), number=count(chat.num_shared)) for chat in chats]
        self.header.setToolTip("<br>".join(escape(line) for line in lines))  # else tags in a title would be its own

    def _title(self, chat: ChatBlocks) -> str:
        title, _color = self._names.get(chat.chat_id, (self.tr("A chat that is gone"), 0))
        return title
