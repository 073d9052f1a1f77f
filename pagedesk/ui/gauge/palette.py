"""The colours of the block map as plain numbers, read from a theme.

The one place of the gauge that turns tokens into pixels; GUI thread.
"""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.ui.theme import Theme

NUM_CHAT_COLORS = 12
"""Colours of chats; after the last they repeat."""

NO_CHAT_COLOR = NUM_CHAT_COLORS
"""The colour index of a block whose chat is not known (any more)."""

FIRST_PATTERNED_COLOR = 6
"""From this colour on a chat also carries its pattern."""


@dataclass(frozen=True, slots=True)
class MapPalette:
    """Colours as 0xffRRGGBB and patterns.

    Attributes:
        background: Between the cells, and in the holes of hatches and patterns.
        free: A free cell, and the inside of a cached one.
        many: The hatch of a block of three chats or more.
        flash: What lies over a block that was just taken.
        chats: By colour index; one more than there are colours, the last for `NO_CHAT_COLOR`.
        patterns: The 7 x 7 mask by colour index, None where the cell is plain.
    """

    background: int
    free: int
    many: int
    flash: int
    chats: tuple[int, ...]
    patterns: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def of(cls, theme: Theme) -> MapPalette:
        """The palette of a theme."""
        chats = tuple(theme.chat_color(index).rgb() for index in range(NUM_CHAT_COLORS))
        return cls(
            background=theme.color("map_bg").rgb(),
            free=theme.color("map_free").rgb(),
            many=theme.color("map_many").rgb(),
            flash=theme.color("map_flash").rgb(),
            chats=(*chats, theme.color("text_muted").rgb()),
            patterns=tuple(pattern_of(theme, index) for index in range(NUM_CHAT_COLORS + 1)),
        )


def pattern_of(theme: Theme, color_index: int) -> tuple[str, ...] | None:
    """The pattern that a chat's cells and chips carry; None for the first colours, which are plain."""
    if not FIRST_PATTERNED_COLOR <= color_index < NUM_CHAT_COLORS:
        return None
    return theme.pattern(color_index)
