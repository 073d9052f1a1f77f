"""The section that says what sharing blocks saves.

GUI thread.
"""

from __future__ import annotations

from pagedesk.ui.gauge.section import Section
from pagedesk.ui.gauge.units import UNKNOWN, exact_bytes, memory
from pagedesk.ui.theme import Theme


class SharingSection(Section):
    """One line: the bytes that would be held twice or more if no block was shared."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("", theme)
        self._saved_bytes: int | None = None
        self.header.set_title(self.tr("Sharing"))
        self.clear()

    def show_saved(self, saved_bytes: int) -> None:
        """Show the bytes saved now."""
        self._saved_bytes = saved_bytes
        text = self.tr("{size} saved").format(size=memory(saved_bytes))
        self.header.set_right(text, color="success" if saved_bytes else None)
        self.header.setToolTip(exact_bytes(saved_bytes))

    def clear(self) -> None:
        """Nothing is known."""
        self._saved_bytes = None
        self.header.set_right(UNKNOWN)
        self.header.setToolTip("")

    def figures(self) -> dict[str, int]:
        """The bytes saved, if they are known."""
        return {} if self._saved_bytes is None else {"saved_bytes": self._saved_bytes}
