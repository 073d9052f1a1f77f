"""Which fonts a text takes: Japanese text gets Japanese families first, so that Han characters take Japanese shapes.

GUI thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtGui import QFont

from pagedesk.ui.theme import Theme, font_families, tokens

_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_HAN = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class TextStyle:
    """A font and its line height in pixels."""

    font: QFont
    line_height: int


def is_japanese(text: str) -> bool:
    """Whether a text is set as Japanese: it has kana, or it is short and has Han characters (a title)."""
    return bool(_KANA.search(text)) or (len(text) < 40 and bool(_HAN.search(text)))


def body_style(theme: Theme, text: str) -> TextStyle:
    """How the words of a message are set."""
    if not is_japanese(text):
        return TextStyle(theme.font("body"), tokens()["type"]["body"]["line"])
    font = theme.font("body_ja")
    font.setFamilies(font_families("japanese") + font_families("ui"))
    return TextStyle(font, tokens()["type"]["body_ja"]["line"])


def title_font(theme: Theme, style: str, title: str) -> QFont:
    """The font of a chat's title in one of the styles of the type scale."""
    font = theme.font(style)
    if is_japanese(title):
        font.setFamilies(font_families("japanese") + font_families("ui"))
    return font


def figures_font(theme: Theme, style: str) -> QFont:
    """A font whose figures are all equally wide, for numbers that change in place."""
    font = theme.font(style)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
