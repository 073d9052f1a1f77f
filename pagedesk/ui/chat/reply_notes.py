"""What stands by the words of a reply: what it does without, why it failed, what it waits for, what it cost.

Plain functions of a conversation and one of its messages; they paint nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pagedesk.chats.models import MessageState
from pagedesk.protocol import FinishReason, Waiting
from pagedesk.ui.chat.conversation import Activity, Conversation, ShownMessage
from pagedesk.ui.chat.note_card import NoteCard, NoteKind
from pagedesk.ui.formats import breakable, count, speed

translate = QCoreApplication.translate


def card_of(conversation: Conversation, message: ShownMessage) -> NoteCard | None:
    """The framed note of a reply that failed or waits."""
    if message.state is MessageState.FAILED:
        cause, _, advice = message.error.partition("\n")
        return NoteCard(NoteKind.FAILED, breakable(cause), breakable(advice))
    if message.state is MessageState.WRITING and conversation.waiting is not None:
        return _waiting_card(conversation.waiting)
    return None


def opening_of(message: ShownMessage) -> str | None:
    """The sentence before the first word: what of the chat the model was not given."""
    if message.dropped is None:
        return None
    text = translate("reply", "Older messages left out to make room: {n}.")
    return text.format(n=count(message.dropped.num_messages))


def line_of(conversation: Conversation, message: ShownMessage) -> str | None:
    """The sentence after the last word, or in place of the first one."""
    if message.state is MessageState.STOPPED:
        return _line_of_stopped(message)
    if message.end is not None and message.end.reason is FinishReason.CONTEXT:
        return translate("reply", "The reply ends here: this chat is as long as the model allows.")
    if message.end is not None and message.end.reason is FinishReason.LENGTH:
        return translate("reply", "The reply ends here: it is as long as it may be.")
    if message.state is MessageState.WRITING and conversation.activity is Activity.QUEUED:
        return translate("reply", "Sent. The reply begins as soon as the model is free for it.")
    return None


def _line_of_stopped(message: ShownMessage) -> str:
    """A reply without an end was under way when the program was killed."""
    if message.end is not None and message.end.reason is FinishReason.REPLACED:
        return translate("reply", "Stopped: another model was loaded.")
    if message.end is None and not message.text:
        return translate("reply", "PageDesk ended before the reply began. Send the message again.")
    return translate("reply", "Stopped. What was written is kept.")


def figures_of(message: ShownMessage) -> str | None:
    """What a finished reply cost, for instance "402 tokens, 72.0 tok/s, 2,112 reused"."""
    if message.end is None or not message.end.usage.completion_tokens:
        return None
    usage, timings = message.end.usage, message.end.timings
    parts = [translate("reply", "{n} tokens").format(n=count(usage.completion_tokens))]
    if timings.decode_tokens_per_s:
        parts.append(speed(timings.decode_tokens_per_s))
    if usage.cached_tokens:
        parts.append(translate("reply", "{n} reused").format(n=count(usage.cached_tokens)))
    return ", ".join(parts)


def _waiting_card(waiting: Waiting) -> NoteCard:
    title = translate("reply", "waits: needs {needed} blocks, {free} free")
    text = translate(
        "reply", "The other chats hold the rest. This one goes on by itself as soon as {missing} more blocks are free."
    )
    return NoteCard(
        NoteKind.WAITING,
        title.format(needed=count(waiting.needed_blocks), free=count(waiting.free_blocks)),
        text.format(missing=count(max(0, waiting.needed_blocks - waiting.free_blocks))),
        min(1.0, waiting.free_blocks / max(1, waiting.needed_blocks)),
    )
