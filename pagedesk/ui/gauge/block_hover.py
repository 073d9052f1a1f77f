"""Pointing at blocks of the map, by mouse or by keyboard: the ring, the card, the chat that is chosen.

GUI thread. Watches a `BlockMap` from outside; the map knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from typing_extensions import override

from pagedesk.ui.gauge.block_map import BlockMap
from pagedesk.ui.gauge.hover_card import ChatName, HoverCard
from pagedesk.ui.theme import Theme, duration_ms

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_HIDING = (QEvent.Type.Leave, QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.Wheel)


class BlockHover(QObject):
    """Shows the card of the block that is pointed at; a click or Enter chooses the block's chat."""

    chat_chosen = Signal(str)

    def __init__(self, block_map: BlockMap, theme: Theme) -> None:
        super().__init__(block_map)
        self._map = block_map
        self._theme = theme
        self._names: Mapping[str, ChatName] = {}
        self._block_id: int | None = None
        self._card: HoverCard | None = None
        self._delay = QTimer(self, singleShot=True, interval=duration_ms("hover_card_delay"))
        self._delay.timeout.connect(self._show_card)
        block_map.installEventFilter(self)
        block_map.viewport().installEventFilter(self)

    @property
    def card(self) -> HoverCard | None:
        """The card, if it is shown."""
        return self._card if self._card is not None and self._card.isVisible() else None

    def set_chats(self, names: Mapping[str, ChatName]) -> None:
        """Take title and colour of each chat."""
        self._names = dict(names)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        self._theme = theme
        if self._card is not None:
            self._card.set_theme(theme)

    def refresh(self) -> None:
        """Tell anew about the block that is shown: the pool changed."""
        if self.card is not None:
            self._show_card()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent):
            self._mouse(event)
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        elif event.type() in _HIDING:
            self._point_at(None)
        return False

    def _mouse(self, event: QMouseEvent) -> None:
        if event.type() == QEvent.Type.MouseMove:
            self._point_at(self._map.block_at(event.position().toPoint()))
        elif event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
            self._choose(self._map.block_at(event.position().toPoint()))

    def _key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in _ENTER:
            self._choose(self._block_id)
            return True
        if key == Qt.Key.Key_Escape and self._block_id is not None:
            self._point_at(None)
            return True
        target = self._target(key)
        if target is None:
            return False
        self._point_at(target)
        self._show_card()
        return True

    def _target(self, key: Qt.Key) -> int | None:
        """The block to which a key moves the cursor; None: the key does not move it."""
        last = (self._map.num_blocks or 0) - 1
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -self._map.columns,
            Qt.Key.Key_Down: self._map.columns,
            Qt.Key.Key_Home: -last,
            Qt.Key.Key_End: last,
        }
        if key not in steps or last < 0:
            return None
        if self._block_id is None:
            return 0
        return max(0, min(last, self._block_id + steps[key]))

    def _point_at(self, block_id: int | None) -> None:
        if block_id == self._block_id:
            return
        self._block_id = block_id
        if block_id is None:
            self._delay.stop()
            self._map.mark(None)
            self._hide_card()
        elif self.card is not None:
            self._show_card()
        else:
            self._delay.start()

    def _show_card(self) -> None:
        facts = None if self._block_id is None else self._map.facts(self._block_id)
        if facts is None:
            self._point_at(None)
            return
        self._map.mark(facts.block_id)
        card = self._card_in_window()
        card.tell(facts, self._names)
        card.place_beside(
            self._in_window(self._map.viewport().rect()), self._in_window(self._map.cell_rect(facts.block_id))
        )
        card.show()
        card.raise_()
        if self._map.hasFocus():
            self._map.setAccessibleDescription(", ".join(card.lines()))

    def _hide_card(self) -> None:
        if self._card is not None:
            self._card.hide()

    def _card_in_window(self) -> HoverCard:
        window = self._map.window()
        if self._card is None or self._card.parentWidget() is not window:
            self._card = HoverCard(self._theme, window)
        return self._card

    def _in_window(self, rect: QRect) -> QRect:
        return QRect(self._map.viewport().mapTo(self._map.window(), QPoint(rect.topLeft())), rect.size())

    def _choose(self, block_id: int | None) -> None:
        facts = None if block_id is None else self._map.facts(block_id)
        if facts is not None and facts.chat_ids:
            self.chat_chosen.emit(facts.chat_ids[0])
