"""The statements of the store and the shape of its rows.

A column may hold anything, of any type, if the disk damaged it: what is read here is always a value of the right kind.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias, TypeVar

from pagedesk.chats.codec import (
    decode_end,
    decode_parts,
    decode_token_ids,
    encode_end,
    encode_parts,
    encode_token_ids,
    salvage_parts,
    writable,
)
from pagedesk.chats.models import NUM_CHAT_COLORS, Chat, MessageState, ReplyUpdate, StoredMessage
from pagedesk.protocol import Role

Row: TypeAlias = tuple[Any, ...]
_Member = TypeVar("_Member", bound=Enum)

_END_OF_TIME = float(1 << 33)

INSERT_CHAT = """
    INSERT INTO chats (chat_id, title, color_index, system_prompt, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
"""
SELECT_CHATS = """
    SELECT chat_id, title, color_index, system_prompt, created_at, updated_at
    FROM chats ORDER BY updated_at DESC, chat_index DESC
"""
SELECT_NEWEST_COLORS = "SELECT color_index FROM chats ORDER BY updated_at DESC, chat_index DESC LIMIT ?"
TOUCH_CHAT = "UPDATE chats SET updated_at = ? WHERE chat_id = ?"
INSERT_MESSAGE = """
    INSERT INTO messages (message_id, chat_id, parent_id, role, parts, token_ids, state, error, created_at, end)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_MESSAGES = """
    SELECT message_id, chat_id, parent_id, role, parts, token_ids, state, error, created_at, end
    FROM messages WHERE chat_id = ? ORDER BY message_index
"""
SELECT_NEWEST_MESSAGE = "SELECT message_id FROM messages WHERE chat_id = ? ORDER BY message_index DESC LIMIT 1"
UPDATE_REPLY = "UPDATE messages SET parts = ?, token_ids = ?, state = ?, error = ?, end = ? WHERE message_id = ?"
STOP_REPLIES_UNDER_WAY = "UPDATE messages SET state = 'stopped' WHERE state = 'writing'"
SELECT_PANES = "SELECT chat_id FROM open_panes ORDER BY pane_index"
INSERT_PANE = "INSERT INTO open_panes (pane_index, chat_id) SELECT ?, chat_id FROM chats WHERE chat_id = ?"


def chat_row(chat: Chat) -> Row:
    """The values of `INSERT_CHAT`."""
    title, prompt = writable(chat.title), writable(chat.system_prompt)
    return (chat.chat_id, title, chat.color_index, prompt, chat.created_at, chat.updated_at)


def message_row(message: StoredMessage) -> Row:
    """The values of `INSERT_MESSAGE`."""
    return (
        message.message_id,
        message.chat_id,
        message.parent_id,
        message.role,
        encode_parts(message.parts),
        encode_token_ids(message.token_ids),
        message.state,
        writable(message.error),
        message.created_at,
        encode_end(message.end),
    )


def reply_row(reply: ReplyUpdate) -> Row:
    """The values of `UPDATE_REPLY`."""
    return (
        encode_parts(reply.parts),
        encode_token_ids(reply.token_ids),
        reply.state,
        writable(reply.error),
        encode_end(reply.end),
        reply.message_id,
    )


def chat_of(row: Row) -> Chat:
    """The chat of a row of `SELECT_CHATS`."""
    chat_id, title, color_index, system_prompt, created_at, updated_at = row
    return Chat(
        chat_id=text_of(chat_id),
        title=text_of(title),
        color_index=color_index % NUM_CHAT_COLORS if isinstance(color_index, int) else 0,
        system_prompt=text_of(system_prompt),
        created_at=_time_of(created_at),
        updated_at=_time_of(updated_at),
    )


def message_of(row: Row) -> StoredMessage:
    """The message of a row of `SELECT_MESSAGES`; DAMAGED if its words, its role or its state are."""
    message_id, chat_id, parent_id, role, written, token_ids, state, error, created_at, end = row
    known_role, parts, known_state = _member(Role, role), decode_parts(text_of(written)), _member(MessageState, state)
    ids, is_sound = decode_token_ids(token_ids), known_role is not None and parts is not None
    return StoredMessage(
        message_id=text_of(message_id),
        chat_id=text_of(chat_id),
        parent_id=None if parent_id is None else text_of(parent_id),
        role=known_role or (Role.ASSISTANT if ids else Role.USER),
        parts=salvage_parts(text_of(written)) if parts is None else parts,
        token_ids=ids,
        state=known_state if is_sound and known_state else MessageState.DAMAGED,
        error=text_of(error),
        created_at=_time_of(created_at),
        end=decode_end(end),
    )


def text_of(value: object) -> str:
    """A column of text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def _time_of(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < _END_OF_TIME else 0.0


def _member(kind: type[_Member], value: object) -> _Member | None:
    return next((member for member in kind if member.value == value), None)
