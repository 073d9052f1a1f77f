"""What of the window is shown at a width: the order in which its parts give way to the panes.

Plain arithmetic of logical pixels; knows no widget.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from pagedesk.ui.theme import tokens


class SidebarForm(Enum):
    """How much of the list of chats stands beside the panes."""

    FULL = auto()
    RAIL = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What stands side by side.

    Attributes:
        has_gauge: The gauge panel has its place; else it is folded.
        num_panes: So many panes; the others are behind tabs.
    """

    sidebar: SidebarForm
    has_gauge: bool
    num_panes: int


def arrange(width: int, num_panes: int, *, wants_sidebar: bool, wants_gauge: bool) -> Arrangement:
    """As the panes run short of their width: the list becomes a rail, the gauge folds, panes go behind tabs."""
    sizes, line = tokens()["size"], tokens()["size"]["splitter"]
    pane = sizes["pane"]["min"] + line
    gauge = sizes["gauge_panel"]["min"] if wants_gauge else 0
    full, rail = (sizes["sidebar"]["min"] + line, sizes["sidebar"]["rail"]) if wants_sidebar else (0, 0)
    short = SidebarForm.RAIL if wants_sidebar else SidebarForm.NONE
    if full + gauge + num_panes * pane <= width:
        return Arrangement(SidebarForm.FULL if wants_sidebar else short, wants_gauge, num_panes)
    if rail + gauge + num_panes * pane <= width:
        return Arrangement(short, wants_gauge, num_panes)
    return Arrangement(short, has_gauge=False, num_panes=max(1, min(num_panes, (width - rail + line) // pane)))
