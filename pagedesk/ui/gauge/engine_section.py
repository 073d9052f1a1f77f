"""The section with the engine's counters.

GUI thread.
"""

from __future__ import annotations

from typing_extensions import override

from pagedesk.protocol import PoolSnapshot
from pagedesk.ui.gauge.figure_table import FigureTable, Row
from pagedesk.ui.gauge.section import Section
from pagedesk.ui.gauge.units import count, milliseconds, percent
from pagedesk.ui.theme import Theme

_ABOVE_TABLE = 2
_FIGURES = {
    "running": ("running", 1),
    "waiting": ("waiting", 1),
    "copied_blocks": ("copied_blocks", 1),
    "step_ms": ("step_us", 1000),
    "cached_share": ("cached_prompt_permille", 1000),
}
"""Name and factor with which a number of the table becomes a whole one in `figures`."""


class EngineSection(Section):
    """Sequences that run and wait, the newest step, what the cache gave, blocks copied on write."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("", theme)
        self.table = FigureTable(self._rows(), theme)
        self.table.setAccessibleName(self.tr("Engine"))
        self.header.set_title(self.tr("Engine"))
        self.add(self.table, _ABOVE_TABLE)

    def show_snapshot(self, snapshot: PoolSnapshot) -> None:
        """Show the counters; a step is not known before the first one, a share not before the first prompt."""
        prompt_tokens = snapshot.prompt_tokens + snapshot.cached_prompt_tokens
        self.table.show_values(
            {
                "running": snapshot.num_running,
                "waiting": snapshot.num_waiting,
                "step_ms": snapshot.step_ms if snapshot.step_index else None,
                "cached_share": snapshot.cached_prompt_tokens / prompt_tokens if prompt_tokens else None,
                "copied_blocks": snapshot.num_copied_blocks,
            }
        )

    def clear(self) -> None:
        """Nothing is known."""
        self.table.show_values({})

    def figures(self) -> dict[str, int]:
        """The counters that are shown: the step in microseconds, the share in thousandths."""
        shown = self.table.values()
        return {name: round(shown[key] * factor) for key, (name, factor) in _FIGURES.items() if key in shown}

    @override
    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.table.set_theme(theme)

    def _rows(self) -> list[Row]:
        return [
            Row("running", self.tr("Running"), count),
            Row("waiting", self.tr("Waiting"), count),
            Row("step_ms", self.tr("Newest step"), milliseconds),
            Row("cached_share", self.tr("Prompt from cache"), percent),
            Row("copied_blocks", self.tr("Copied blocks"), count),
        ]
