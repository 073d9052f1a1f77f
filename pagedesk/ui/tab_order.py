"""Where the Tab key goes: through the parts of the window as one reads them, whenever they were made.

GUI thread; functions of widgets, without state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def tab_stops(parts: Iterable[QWidget]) -> list[QWidget]:
    """The widgets inside that the Tab key can reach, those that are hidden or disabled now included."""
    return [widget for part in parts for widget in part.findChildren(QWidget) if _takes_tab(widget, part)]


def neighbour(stops: Sequence[QWidget], here: QWidget | None, step: int) -> QWidget | None:
    """The next stop that can be used, 1 forward or -1 back and around the ends; None if there is none."""
    start = stops.index(here) if here in stops else (-1 if step > 0 else 0)
    around = (stops[(start + step * distance) % len(stops)] for distance in range(1, len(stops) + 1))
    return next((widget for widget in around if widget.isVisible() and widget.isEnabled()), None)


def _takes_tab(widget: QWidget, part: QWidget) -> bool:
    """Menus and dialogs are children of their parts, but windows of their own."""
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.window() is part.window()
