"""The section with the block map.

GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from pagedesk.protocol import BlockState, PoolSnapshot
from pagedesk.ui.gauge.block_hover import BlockHover
from pagedesk.ui.gauge.block_map import BlockMap
from pagedesk.ui.gauge.hover_card import ChatName
from pagedesk.ui.gauge.section import Section
from pagedesk.ui.gauge.units import UNKNOWN, count
from pagedesk.ui.theme import Theme

_ABOVE_MAP = 6
_COUNTED = {
    "num_owned": BlockState.OWNED,
    "num_shared": BlockState.SHARED,
    "num_cached": BlockState.CACHED,
    "num_free": BlockState.FREE,
}


class BlockSection(Section):
    """How many blocks are held, and the map of them all."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("", theme)
        self.map = BlockMap(theme)
        self.hover = BlockHover(self.map, theme)
        self.header.set_title(self.tr("Blocks"))
        self.header.set_note(UNKNOWN)
        self.add(self.map, _ABOVE_MAP, right_padding=0)

    def show_snapshot(self, snapshot: PoolSnapshot) -> None:
        """Show the pool; the header counts what the map shows."""
        self.map.show_snapshot(snapshot)
        self.hover.refresh()
        figures = self.figures()
        held = count(figures["num_owned"] + figures["num_shared"])
        self.header.set_note(self.tr("{held} of {total} held").format(held=held, total=count(figures["num_blocks"])))

    def clear(self) -> None:
        """There are no blocks."""
        self.map.clear()
        self.hover.refresh()
        self.header.set_note(UNKNOWN)

    def set_chats(self, names: Mapping[str, ChatName]) -> None:
        """Take title and colour of each chat."""
        self.map.set_chats({chat_id: color_index for chat_id, (_, color_index) in names.items()})
        self.hover.set_chats(names)

    def figures(self) -> dict[str, int]:
        """Cells on the map, in all and by state; nothing before the first snapshot."""
        counts = {"num_blocks": self.map.num_blocks} | {key: self.map.count(state) for key, state in _COUNTED.items()}
        return {key: number for key, number in counts.items() if number is not None}

    @override
    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.map.set_theme(theme)
        self.hover.set_theme(theme)
