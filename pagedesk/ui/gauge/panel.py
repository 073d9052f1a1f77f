"""The gauge: where the memory is, which chat owns which block, what sharing saves, what the engine counts.

GUI thread. It shows counters of the engine as they come; what the engine did not count, it does not show.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.protocol import MemoryUse, PoolSnapshot
from pagedesk.ui.gauge.block_section import BlockSection
from pagedesk.ui.gauge.engine_section import EngineSection
from pagedesk.ui.gauge.hover_card import ChatName
from pagedesk.ui.gauge.memory_section import MemorySection
from pagedesk.ui.gauge.sharing_section import SharingSection
from pagedesk.ui.theme import Scheme, Theme, tokens

_PADDING_TOP = 10
_PADDING_BOTTOM = 14


class GaugePanel(QWidget):
    """Memory, blocks, sharing and counters, one below the other.

    When the height does not suffice, the counters go first, then sharing, then the map scrolls.
    """

    chat_chosen = Signal(str)
    """The user clicked a block: the id of the chat that holds it."""

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme or Theme(Scheme.DARK)
        self._snapshot: PoolSnapshot | None = None
        self._memory: MemoryUse | None = None
        self._colors: dict[str, int] = {}
        self.memory = MemorySection(self._theme)
        self.blocks = BlockSection(self._theme)
        self.sharing = SharingSection(self._theme)
        self.engine = EngineSection(self._theme)
        self.blocks.hover.chat_chosen.connect(self.chat_chosen)
        self._set_up()

    def set_chats(self, chats: Mapping[str, ChatName]) -> None:
        """Take title and colour index of each chat by its id."""
        self._colors = {chat_id: color_index for chat_id, (_, color_index) in chats.items()}
        self.blocks.set_chats(chats)
        self.sharing.set_chats(chats)
        self._show_memory()

    def show_snapshot(self, snapshot: PoolSnapshot) -> None:
        """Show the pool, the counters and the memory of a moment."""
        self._snapshot, self._memory = snapshot, snapshot.memory
        self.blocks.show_snapshot(snapshot)
        self.sharing.show_saved(snapshot.saved_bytes, snapshot.chats)
        self.engine.show_snapshot(snapshot)
        self._show_memory()

    def show_memory(self, memory: MemoryUse) -> None:
        """Show where the memory is; the newest snapshot's blocks stay if they are of this pool."""
        if self._snapshot is not None and self._snapshot.num_blocks * self._snapshot.block_bytes != memory.pool_bytes:
            self._snapshot = None
        self._memory = memory
        self._show_memory()

    def clear(self) -> None:
        """There is no pool any more: show no number."""
        self._snapshot = self._memory = None
        for section in (self.memory, self.blocks, self.sharing, self.engine):
            section.clear()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        for section in (self.memory, self.blocks, self.sharing, self.engine):
            section.set_theme(theme)
        self.update()

    def figures(self) -> dict[str, int]:
        """Every number that the panel shows, read back from what shows it; numbers that are not known are missing.

        Bytes are whole, `step_us` is in microseconds, `cached_prompt_permille` in thousandths.
        """
        return self.memory.figures() | self.blocks.figures() | self.sharing.figures() | self.engine.figures()

    @override
    def sizeHint(self) -> QSize:
        return QSize(tokens()["size"]["gauge_panel"]["default"], super().sizeHint().height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(tokens()["size"]["gauge_panel"]["min"], 0)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._drop_sections()

    @override
    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._drop_sections()
        return handled

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.color("bg_sidebar"))
        painter.end()

    def _set_up(self) -> None:
        self.setMinimumWidth(tokens()["size"]["gauge_panel"]["min"])
        self.setMaximumWidth(tokens()["size"]["gauge_panel"]["max"])
        self.setAccessibleName(self.tr("Gauge"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, _PADDING_TOP, 0, _PADDING_BOTTOM)
        layout.setSpacing(0)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        for section in (self.memory, self.blocks, self.sharing, self.engine):
            layout.addWidget(section)
        layout.addStretch(1)

    def _show_memory(self) -> None:
        if self._memory is not None:
            self.memory.show_memory(self._memory, self._snapshot, self._colors)

    def _drop_sections(self) -> None:
        """Leave out what does not fit below the map at its full height."""
        room = self.height() - _PADDING_TOP - _PADDING_BOTTOM
        room -= self.memory.sizeHint().height() + self.blocks.sizeHint().height()
        for section in (self.sharing, self.engine):
            room -= section.sizeHint().height()
            section.setVisible(room >= 0)
