"""The theme: every colour, size and duration of the window, read from the tokens in the resources.

GUI thread. Widgets ask here by token name; none carries a colour or a length of its own.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from PySide6.QtGui import QColor, QFont

from pagedesk.system.resources import resource_path


class Scheme(StrEnum):
    """Dark or light."""

    DARK = "dark"
    LIGHT = "light"


@cache
def tokens() -> dict[str, Any]:
    """The tokens file (`resources/themes/tokens.json`); treat as read-only."""
    text = resource_path("themes", "tokens.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@dataclass(frozen=True, slots=True)
class Theme:
    """The tokens of one scheme."""

    scheme: Scheme

    def color(self, name: str) -> QColor:
        """A colour by its token name, for instance `bg_pane`."""
        return QColor(tokens()["color"][self.scheme][name])

    def chat_color(self, color_index: int) -> QColor:
        """The colour of a chat; the twelve repeat."""
        colors = tokens()["chat_colors"]["list"]
        return QColor(colors[color_index % len(colors)][self.scheme])

    def pattern(self, color_index: int) -> tuple[str, ...]:
        """The 7 x 7 mask of a chat: `#` is the colour, `.` the map's background."""
        colors = tokens()["chat_colors"]["list"]
        name = colors[color_index % len(colors)]["pattern"]
        return tuple(tokens()["patterns"][name])

    def font(self, style: str) -> QFont:
        """A font of the type scale, for instance `body` or `ui_strong`."""
        scale = tokens()["type"][style]
        family = "mono" if style == "code" else "ui"
        font = QFont()
        font.setFamilies(font_families(family))
        font.setPixelSize(scale["size"])
        font.setWeight(QFont.Weight(scale["weight"]))
        return font


def font_families(kind: str) -> list[str]:
    """The families of `ui`, `mono` or `japanese` on this platform, best first."""
    platform = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    families: list[str] = tokens()["font"][kind][platform]
    return families


def duration_ms(name: str) -> int:
    """A duration in milliseconds, for instance `block_flash`."""
    value: int = tokens()["duration"][name]
    return value
