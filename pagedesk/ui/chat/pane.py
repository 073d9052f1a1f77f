"""One pane: a chat with its header, transcript, composer and meter.

GUI thread. A widget: it shows a conversation and emits what the user wants; the controller decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from typing_extensions import override

from pagedesk.ui.chat.composer import Composer
from pagedesk.ui.chat.conversation import Conversation
from pagedesk.ui.chat.meter import Meter
from pagedesk.ui.chat.pane_header import PaneHeader
from pagedesk.ui.chat.transcript import Transcript
from pagedesk.ui.chat.welcome import Heading, Suggestions
from pagedesk.ui.chat.welcome_texts import suggestions
from pagedesk.ui.engine_state import EngineState
from pagedesk.ui.theme import Theme, tokens

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent

_WELCOME_MARGIN = 48
_LEAST_MESSAGES = 48


class Pane(QWidget):
    """A chat, with everything one needs to talk in it.

    Signals:
        asked: The words of a message to send.
        stop_asked: The reply under way is to end.
        renamed: Another title for the chat.
        system_prompt_written: What the model is to be told before the first message.
        delete_asked: The chat is to be deleted.
        close_asked: The pane is to be closed.
    """

    asked = Signal(str)
    stop_asked = Signal()
    renamed = Signal(str)
    system_prompt_written = Signal(str)
    delete_asked = Signal()
    close_asked = Signal()

    def __init__(self, theme: Theme, state: EngineState, conversation: Conversation) -> None:
        super().__init__()
        self.setObjectName("pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(tokens()["size"]["pane"]["min"])
        self._state = state
        self._is_first = True
        self.header = PaneHeader(theme, self)
        self.heading = Heading(theme, self)
        self.transcript = Transcript(theme, self)
        self.composer = Composer(theme, self)
        self.meter = Meter(theme, self)
        self.suggestions = Suggestions(theme, self)
        self._lay_out()
        self._connect()
        self.conversation = conversation
        self._adopt(conversation)

    def set_conversation(self, conversation: Conversation) -> None:
        """Show another chat; what was written in the composer stays with the old one."""
        old = self.conversation
        old.message_added.disconnect(self._show_welcome)
        old.activity_changed.disconnect(self._on_activity)
        old.tokens_changed.disconnect(self.meter.refresh_soon)
        old.renamed.disconnect(self.header.refresh)
        old.system_prompt_changed.disconnect(self.header.refresh)
        self.conversation = conversation
        self._adopt(conversation)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        for part in (self.header, self.heading, self.transcript, self.composer, self.meter, self.suggestions):
            part.set_theme(theme)

    def set_first(self, *, is_first: bool, is_only: bool) -> None:
        """Whether it is the leftmost pane, and whether it is the only one (which cannot be closed)."""
        self._is_first = is_first
        self.header.close_button.setVisible(not is_only)
        self._show_welcome()

    def set_focused(self, *, has_focus: bool) -> None:
        """Whether it is the pane in use."""
        self.header.set_focused(has_focus=has_focus)

    @property
    def wanted_height(self) -> int:
        """What it needs to show its composer whole, and a little of its messages."""
        return (
            self._height_around_composer + self.composer.wanted_height + (_LEAST_MESSAGES if self._has_messages else 0)
        )

    def focus_composer(self) -> None:
        """Put the caret where one writes."""
        self.composer.edit.setFocus()

    def clear_composer(self) -> None:
        """The message is on its way."""
        self.composer.edit.clear()

    def _adopt(self, conversation: Conversation) -> None:
        self.header.set_conversation(conversation)
        self.transcript.set_conversation(conversation)
        self.meter.set_conversation(conversation)
        self.composer.set_draft(conversation.draft)
        conversation.message_added.connect(self._show_welcome)
        conversation.activity_changed.connect(self._on_activity)
        conversation.tokens_changed.connect(self.meter.refresh_soon)
        conversation.renamed.connect(self.header.refresh)
        conversation.system_prompt_changed.connect(self.header.refresh)
        self._on_activity()
        self._on_engine()
        self._show_welcome()

    def _connect(self) -> None:
        self.composer.sent.connect(self.asked)
        self.composer.stopped.connect(self.stop_asked)
        self.composer.draft_changed.connect(self._keep_draft)
        self.suggestions.chosen.connect(self.asked)
        self.header.renamed.connect(self.renamed)
        self.header.system_prompt_written.connect(self.system_prompt_written)
        self.header.delete_asked.connect(self.delete_asked)
        self.header.close_asked.connect(self.close_asked)
        self.header.renaming_ended.connect(self.focus_composer)
        self.transcript.clicked.connect(self.focus_composer)
        self.transcript.typed.connect(self._write_on)
        self._state.changed.connect(self._on_engine)
        clicks = (self.composer.button.clicked, self.header.prompt_button.clicked, self.header.menu.aboutToShow)
        for signal in (*clicks, self.transcript.verticalScrollBar().sliderPressed):
            signal.connect(self.focus_composer)

    def _write_on(self, event: QKeyEvent) -> None:
        """A key that writes does so in this pane's composer, wherever in the pane it was pressed."""
        self.focus_composer()
        QApplication.sendEvent(self.composer.edit, event)

    def _keep_draft(self, text: str) -> None:
        self.conversation.draft = text

    def _on_activity(self) -> None:
        self.header.refresh()
        self.meter.refresh()
        self.composer.set_busy(is_busy=self.conversation.is_busy)

    def _on_engine(self) -> None:
        model = self._state.model
        self.meter.set_limit(model.max_model_len if model else 0)
        self.heading.show_state(self._state, is_first_pane=self._is_first)
        self._fit()

    def _show_welcome(self) -> None:
        """Put the composer in the middle while the chat is empty, at the bottom once it is not."""
        is_empty = not self._has_messages
        self.composer.set_hint_shown(is_shown=is_empty)
        self.transcript.setVisible(not is_empty)
        self.meter.setVisible(not is_empty)
        self.suggestions.show_texts(suggestions(is_first_pane=self._is_first))
        self.heading.show_state(self._state, is_first_pane=self._is_first)
        side = _WELCOME_MARGIN if is_empty else 12
        self._composer_box.setContentsMargins(side, 8, side, 6)
        self._column.setStretch(self._top_gap, int(is_empty))
        self._column.setStretch(self._bottom_gap, int(is_empty))
        self._fit()

    @property
    def _has_messages(self) -> bool:
        return bool(self.conversation.messages)

    @property
    def _height_around_composer(self) -> int:
        """The parts that are always there, the messages left out."""
        margins = self._composer_box.contentsMargins()
        return self.header.height() + margins.top() + margins.bottom() + self._meter_box.sizeHint().height()

    def _fit(self) -> None:
        """Where the height does not suffice, leave out suggestions, then the heading, then lines of the composer."""
        room = self.height() - self._height_around_composer
        self.composer.limit_height(room)
        room -= min(room, self.composer.wanted_height)
        heading = self.heading.heightForWidth(max(0, self.width() - 2 * _WELCOME_MARGIN))
        suggestions = self.suggestions.sizeHint().height()
        self.heading.setVisible(not self._has_messages and heading <= room)
        self.suggestions.setVisible(not self._has_messages and heading + suggestions <= room)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """What one types after a click anywhere in the pane belongs to its chat; buttons and bars tell of theirs."""
        self.focus_composer()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self._height_around_composer + self.composer.least_height)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _lay_out(self) -> None:
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self._top_gap = column.count()
        column.addStretch(0)
        _add(column, self.heading, (_WELCOME_MARGIN, 0, _WELCOME_MARGIN, 0))
        column.addWidget(self.transcript, 1)
        self._composer_box = _add(column, self.composer, (12, 8, 12, 6))
        self._meter_box = _add(column, self.meter, (14, 0, 14, 8))
        _add(column, self.suggestions, (_WELCOME_MARGIN, 0, _WELCOME_MARGIN, 0))
        self._bottom_gap = column.count()
        column.addStretch(0)


def _add(column: QVBoxLayout, widget: QWidget, margins: tuple[int, int, int, int]) -> QVBoxLayout:
    """Put a widget into a column with room around it; of a hidden widget, the room above and below it stays."""
    box = QVBoxLayout()
    box.setContentsMargins(*margins)
    box.addWidget(widget)
    column.addLayout(box)
    return box
