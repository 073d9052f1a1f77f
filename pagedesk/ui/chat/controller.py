"""Decides what happens to chats: asks the engine, keeps the store up to date, leads every event to its chat.

GUI thread; owns no widget. Events are routed by request id, so a reply reaches its chat with or without a pane.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from pagedesk.bridge import EngineBridge
from pagedesk.chats.errors import ChatStoreError
from pagedesk.chats.models import Chat, MessageState, ReplyEnd
from pagedesk.chats.reply_writer import ReplyWriter
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import (
    Cancel,
    Failed,
    Finished,
    FinishReason,
    Message,
    Role,
    SetFocus,
    Started,
    Submit,
    TextDelta,
    TextPart,
    TurnsDropped,
    Waiting,
)
from pagedesk.ui.chat.conversation import Activity, Conversation, ShownMessage
from pagedesk.ui.chat.history import history, title_of

_FLUSH_MS, _MAX_FLUSH_MS = 500, 4000
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Reply:
    """Where the answer to a request goes."""

    conversation: Conversation
    message: ShownMessage


class ChatController(QObject):
    """All chats of the window.

    Signals:
        chats_changed: Chats were added, removed, renamed or changed places.
        activity_changed: The id of a chat whose request does something else now.
        chat_deleted: The id of a chat that is gone.
        store_failed: Cause and advice: something could not be saved yet. Of replies under way it is told once.
        store_recovered: The `Recovery`: the file of the chats showed damage while the window was open.
    """

    chats_changed = Signal()
    activity_changed = Signal(str)
    chat_deleted = Signal(str)
    store_failed = Signal(str, str)
    store_recovered = Signal(object)

    def __init__(self, store: ChatStore, bridge: EngineBridge) -> None:
        super().__init__()
        self._store = store
        self._bridge = bridge
        self._writer = ReplyWriter(store)
        self._chats = {chat.chat_id: chat for chat in store.chats()}
        self._conversations: dict[str, Conversation] = {}
        self._panes = store.open_panes()
        self._replies: dict[str, _Reply] = {}
        self._told_of_replies = False
        self._flush_timer = QTimer(self, interval=_FLUSH_MS)
        self._flush_timer.timeout.connect(self.flush)
        bridge.turns_dropped.connect(self._on_dropped)
        bridge.request_started.connect(self._on_started)
        bridge.request_waiting.connect(self._on_waiting)
        bridge.text_delta.connect(self._on_text)
        bridge.request_finished.connect(self._on_finished)
        bridge.request_failed.connect(self._on_failed)

    def chats(self) -> list[Chat]:
        """All chats, the one with the newest message first."""
        return list(self._chats.values())

    def conversation(self, chat_id: str) -> Conversation:
        """A chat with its messages, read from the store when first asked for.

        Raises:
            KeyError: There is no such chat.
        """
        if chat_id not in self._conversations:
            chat = self._chats[chat_id]
            self._adopt(Conversation(chat, self._messages(chat_id)))
        return self._conversations[chat_id]

    def activity(self, chat_id: str) -> Activity:
        """What a chat does; cheap, reads nothing."""
        conversation = self._conversations.get(chat_id)
        return conversation.activity if conversation else Activity.IDLE

    @property
    def num_replies(self) -> int:
        """How many replies are under way."""
        return len(self._replies)

    def new_chat(self) -> str | None:
        """Add an empty chat; returns its id, or None if it could not be saved."""
        made: list[Chat] = []
        if not self._saved(lambda: made.append(self._store.create_chat(""))):
            return None
        self._adopt(Conversation(made[0], []))
        self._reread()
        return made[0].chat_id

    def remember_panes(self, chat_ids: list[str]) -> None:
        """Keep which chats are open, left to right, for the next start."""
        if chat_ids != self._panes and self._saved(lambda: self._store.set_open_panes(chat_ids)):
            self._panes = chat_ids

    def ask(self, chat_id: str, text: str) -> bool:
        """Save a message and ask the engine for a reply; False if the chat is busy or nothing could be saved."""
        conversation = self.conversation(chat_id)
        if conversation.is_busy or not text.strip():
            return False
        return self._saved(lambda: self._submit(conversation, text))

    def stop(self, chat_id: str) -> None:
        """Stop the reply of a chat; what was written stays."""
        for request_id, reply in self._replies.items():
            if reply.conversation.chat_id == chat_id:
                self._bridge.send(Cancel(request_id))

    def focus(self, chat_id: str | None) -> None:
        """Tell the engine which chat the user looks at."""
        self._bridge.send(SetFocus(chat_id))

    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat another title; an empty one is ignored."""
        title = " ".join(title.split())
        if title and self._saved(lambda: self._store.rename_chat(chat_id, title)):
            self.conversation(chat_id).rename(title)
            self._reread()

    def set_system_prompt(self, chat_id: str, text: str) -> bool:
        """Tell the model something else before the first message of a chat; False if it could not be saved."""
        text = text if text.strip() else ""
        is_saved = self._saved(lambda: self._store.set_system_prompt(chat_id, text))
        if is_saved:
            self.conversation(chat_id).set_system_prompt(text)
        return is_saved

    def delete(self, chat_id: str) -> None:
        """Delete a chat for good, stopping its reply first."""
        self.stop(chat_id)
        if self._saved(lambda: self._store.delete_chat(chat_id)):
            self._replies = {key: r for key, r in self._replies.items() if r.conversation.chat_id != chat_id}
            self._conversations.pop(chat_id, None)
            self._reread()
            self.chat_deleted.emit(chat_id)

    def discard_if_blank(self, chat_id: str) -> None:
        """Delete a chat in which nothing was ever written; it left no trace worth a row in the list."""
        if self._chats[chat_id].title:
            return  # something was written: no need to read it all, at each start of all chats
        conversation = self.conversation(chat_id)
        if conversation.is_blank and not (conversation.title or conversation.draft.strip()):
            self.delete(chat_id)

    def flush(self) -> None:
        """Write the replies under way; tried again later if it fails, each time after a longer pause."""
        is_saved = self._saved(self._writer.flush, tells=not self._told_of_replies)
        self._told_of_replies = not is_saved
        self._flush_timer.setInterval(_FLUSH_MS if is_saved else min(2 * self._flush_timer.interval(), _MAX_FLUSH_MS))
        if is_saved and not self._replies:
            self._flush_timer.stop()

    def _messages(self, chat_id: str) -> list[ShownMessage]:
        known = self._store.recovery
        messages = [ShownMessage.of(stored) for stored in self._store.messages(chat_id)]
        if self._store.recovery is not known:
            self.store_recovered.emit(self._store.recovery)
        return messages

    def _adopt(self, conversation: Conversation) -> None:
        conversation.setParent(self)
        self._conversations[conversation.chat_id] = conversation
        conversation.activity_changed.connect(lambda: self.activity_changed.emit(conversation.chat_id))

    def _submit(self, conversation: Conversation, text: str) -> None:
        chat_id = conversation.chat_id
        with self._store.together():
            question = ShownMessage.of(self._store.add_message(chat_id, Role.USER, (TextPart(text),)))
            answer = ShownMessage.of(self._store.add_message(chat_id, Role.ASSISTANT, (), MessageState.WRITING))
        if not conversation.title:
            self.rename(chat_id, title_of(text))
        conversation.add(question)
        messages = history(conversation.system_prompt, conversation.messages)
        conversation.add(answer)
        self._request(conversation, answer, messages)
        self._reread()

    def _request(self, conversation: Conversation, answer: ShownMessage, messages: tuple[Message, ...]) -> None:
        request_id = uuid.uuid4().hex
        self._replies[request_id] = _Reply(conversation, answer)
        conversation.set_activity(Activity.QUEUED)
        self._flush_timer.start()
        self._bridge.send(Submit(request_id, conversation.chat_id, messages))

    def _on_dropped(self, event: TurnsDropped) -> None:
        if reply := self._replies.get(event.request_id):
            reply.conversation.note_dropped(reply.message, event)

    def _on_started(self, event: Started) -> None:
        if reply := self._replies.get(event.request_id):
            reply.conversation.begin(event.prompt_tokens)

    def _on_waiting(self, event: Waiting) -> None:
        if reply := self._replies.get(event.request_id):
            reply.conversation.set_activity(Activity.WAITING, event)

    def _on_text(self, event: TextDelta) -> None:
        if reply := self._replies.get(event.request_id):
            self._writer.note(reply.message.message_id, event.text, event.token_ids)
            reply.conversation.grow(reply.message, event.text, event.token_ids)

    def _on_finished(self, event: Finished) -> None:
        stopped = event.reason in (FinishReason.CANCELLED, FinishReason.REPLACED)
        end = ReplyEnd(event.reason, event.usage, event.timings)
        self._end(event.request_id, MessageState.STOPPED if stopped else MessageState.DONE, "", end)

    def _on_failed(self, event: Failed) -> None:
        self._end(event.request_id, MessageState.FAILED, f"{event.cause}\n{event.advice}", None)

    def _end(self, request_id: str, state: MessageState, error: str, end: ReplyEnd | None) -> None:
        reply = self._replies.pop(request_id, None)
        if reply is None:
            return
        reply.conversation.end(reply.message, state, error, end)
        self._saved(lambda: self._writer.finish(reply.message.message_id, state, error, end))

    def _reread(self) -> None:
        """Take over the store's order of the chats."""
        self._chats = {chat.chat_id: chat for chat in self._store.chats()}
        self.chats_changed.emit()

    def _saved(self, write: Callable[[], object], *, tells: bool = True) -> bool:
        """Whether a write succeeded; if not, the user is told, unless `tells` is false."""
        try:
            write()
        except ChatStoreError as error:
            _logger.warning("the store refused a write", exc_info=True)
            if tells:
                self.store_failed.emit(error.cause, error.advice)
            return False
        return True
