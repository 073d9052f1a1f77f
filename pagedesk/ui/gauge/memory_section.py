"""The section about memory: device and total, the bar, its legend.

GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from pagedesk.protocol import MemoryUse, PoolSnapshot
from pagedesk.ui.gauge.figure_table import FigureTable, Row
from pagedesk.ui.gauge.memory_bar import MemoryBar
from pagedesk.ui.gauge.memory_slices import SliceKind, bytes_by_kind, slices_of
from pagedesk.ui.gauge.section import Section
from pagedesk.ui.gauge.units import exact_bytes, memory
from pagedesk.ui.theme import Theme

_ABOVE_BAR, _ABOVE_LEGEND = 5, 7


class MemorySection(Section):
    """All memory of the device on one bar: video memory, or on a machine without a card the machine's."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("", theme, ruled=False)
        self.bar = MemoryBar(theme)
        self.legend = FigureTable(self._rows(), theme)
        self.legend.setAccessibleName(self.tr("Memory by use, in numbers"))
        self._total_bytes: int | None = None
        self.add(self.bar, _ABOVE_BAR)
        self.add(self.legend, _ABOVE_LEGEND)
        self.clear()

    def show_memory(self, use: MemoryUse, pool: PoolSnapshot | None, color_of_chat: Mapping[str, int]) -> None:
        """Show where the memory is; without a pool its blocks count as free on the bar and as unknown in the legend."""
        slices = slices_of(use, pool, color_of_chat)
        sums = bytes_by_kind(slices)
        self._total_bytes = use.total_bytes
        self._show_device(use)
        self.bar.show_slices(slices, use.total_bytes)
        self.legend.hide_rows(frozenset() if sums.get(SliceKind.UNUSED) else frozenset({SliceKind.UNUSED}))
        known = [kind for kind in SliceKind if pool is not None or not kind.is_pool]
        self.legend.show_values({kind: sums.get(kind) for kind in known})
        self.bar.setAccessibleDescription(self.legend.summary())

    def clear(self) -> None:
        """Nothing is known."""
        self._total_bytes = None
        self.header.set_title(self.tr("Memory"))
        self.header.set_right("")
        self.header.setToolTip("")
        self.bar.show_slices((), None)
        self.legend.hide_rows(frozenset({SliceKind.UNUSED}))
        self.legend.show_values({})
        self.bar.setAccessibleDescription("")

    def figures(self) -> dict[str, int]:
        """The bytes that the legend shows, and the total of the header."""
        shown = {f"{key}_bytes": int(value) for key, value in self.legend.values().items()}
        return shown if self._total_bytes is None else {**shown, "total_bytes": self._total_bytes}

    @override
    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.bar.set_theme(theme)
        self.legend.set_theme(theme)

    def _show_device(self, use: MemoryUse) -> None:
        self.header.set_title(self.tr("Video memory") if use.on_card else self.tr("Memory"))
        self.header.set_right(use.device_name, "" if use.total_bytes is None else f", {memory(use.total_bytes)}")
        self.header.setToolTip(f"{use.device_name}, {exact_bytes(use.total_bytes)}")

    def _rows(self) -> list[Row]:
        labels = {
            SliceKind.WEIGHTS: self.tr("Weights"),
            SliceKind.WORKSPACE: self.tr("Workspace"),
            SliceKind.OTHERS: self.tr("Other programs"),
            SliceKind.HEADROOM: self.tr("Headroom"),
            SliceKind.UNUSED: self.tr("Not in use"),
            SliceKind.OWNED: self.tr("Pool, owned"),
            SliceKind.SHARED: self.tr("Pool, shared"),
            SliceKind.CACHED: self.tr("Pool, cached"),
            SliceKind.FREE: self.tr("Pool, free"),
        }
        return [Row(kind, label, memory, exact_bytes, kind) for kind, label in labels.items()]
