"""A section of the panel: a rule across the panel, a header, and what belongs under it.

GUI thread; knows texts and a theme only.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.theme import Theme

PADDING = 14
HEADER_HEIGHT = 22
_SPACING = 8
_ABOVE_RULE, _BELOW_RULE = 10, 8


class SectionHeader(QWidget):
    """A title, a note beside it and a text on the right; the note gives way first when the width does not suffice."""

    def __init__(self, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._note, self._right = title, "", ""
        self._right_fixed = ""
        self._right_color: str | None = None
        self._theme = theme
        self._fonts = _fonts(theme)
        self.setFixedHeight(HEADER_HEIGHT)
        self.setAccessibleName(title)

    @property
    def title(self) -> str:
        """The title as it is shown."""
        return self._title

    @property
    def note(self) -> str:
        """The note as it is shown, before it is shortened."""
        return self._note

    @property
    def right(self) -> str:
        """The text on the right, before it is shortened."""
        return self._right + self._right_fixed

    def set_title(self, title: str) -> None:
        """Show another title."""
        if title != self._title:
            self._title = title
            self.setAccessibleName(title)
            self.update()

    def set_note(self, note: str) -> None:
        """Show a note beside the title."""
        if note != self._note:
            self._note = note
            self._tell()

    def set_right(self, text: str, ending: str = "", color: str | None = None) -> None:
        """Show a text on the right; `ending` is never cut, `color` names a token for a text that stands out."""
        if (text, ending, color) != (self._right, self._right_fixed, self._right_color):
            self._right, self._right_fixed, self._right_color = text, ending, color
            self._tell()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        self._fonts = _fonts(theme)
        self.update()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, HEADER_HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        left = self._draw(painter, 0, self._title, "text_secondary", strong=True)
        right_rect = self._draw_right(painter, left)
        note = self._elided(self._note, self._font(strong=False), right_rect.left() - left - 2 * _SPACING)
        self._draw(painter, left + _SPACING, note, "text_muted", strong=False)
        painter.end()

    def _tell(self) -> None:
        self.setAccessibleDescription(" ".join(part for part in (self._note, self.right) if part))
        self.update()

    def _draw(self, painter: QPainter, left: int, text: str, color: str, *, strong: bool) -> int:
        """Draw a text from `left` on; returns its right end."""
        font = self._font(strong=strong)
        painter.setFont(font)
        painter.setPen(self._theme.color(color))
        width = QFontMetrics(font).horizontalAdvance(text)
        painter.drawText(QRect(left, 0, width + 1, HEADER_HEIGHT), Qt.AlignmentFlag.AlignVCenter, text)
        return left + width

    def _draw_right(self, painter: QPainter, left: int) -> QRect:
        strong = self._right_color is not None
        font = self._font(strong=strong)
        ending = QFontMetrics(font).horizontalAdvance(self._right_fixed)
        text = self._elided(self._right, font, self.width() - left - 2 * _SPACING - ending) + self._right_fixed
        start = self.width() - QFontMetrics(font).horizontalAdvance(text)
        self._draw(painter, start, text, self._right_color or "text_muted", strong=strong)
        return QRect(start, 0, self.width() - start, HEADER_HEIGHT)

    def _elided(self, text: str, font: QFont, width: int) -> str:
        return QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, width))

    def _font(self, *, strong: bool) -> QFont:
        return self._fonts[strong]


def _fonts(theme: Theme) -> tuple[QFont, QFont]:
    """The plain font and the strong one; figures are all of one width."""
    plain, strong = theme.font("small"), theme.font("small")
    strong.setWeight(QFont.Weight.DemiBold)
    for font in (plain, strong):
        font.setFeature(QFont.Tag("tnum"), 1)
    return plain, strong


class Rule(QWidget):
    """A hairline across the panel with the room above and below it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(_ABOVE_RULE + 1 + _BELOW_RULE)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, _ABOVE_RULE, self.width(), 1, self._theme.color("border_subtle"))
        painter.end()


class Section(QWidget):
    """A header and widgets under it, set in by the panel's padding."""

    def __init__(self, title: str, theme: Theme, *, ruled: bool = True) -> None:
        super().__init__()
        self.header = SectionHeader(title, theme)
        self._rule = Rule(theme) if ruled else None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        if self._rule is not None:
            self._layout.addWidget(self._rule)
        self.add(self.header)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def add(self, widget: QWidget, space_above: int = 0, right_padding: int = PADDING) -> None:
        """Put a widget below what is there."""
        row = QVBoxLayout()
        row.setContentsMargins(PADDING, space_above, right_padding, 0)
        row.addWidget(widget)
        self._layout.addLayout(row)

    def set_theme(self, theme: Theme) -> None:
        """Hand a theme to the header and the rule."""
        self.header.set_theme(theme)
        if self._rule is not None:
            self._rule.set_theme(theme)
