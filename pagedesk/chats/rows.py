"""The statements of the store and the shape of its rows."""

from __future__ import annotations

from typing import Any, TypeAlias

from pagedesk.chats.codec import (
    decode_end,
    decode_parts,
    decode_token_ids,
    encode_end,
    encode_parts,
    encode_token_ids,
    writable,
)
from pagedesk.chats.models import Chat, MessageState, ReplyUpdate, StoredMessage
from pagedesk.protocol import Role

Row: TypeAlias = tuple[Any, ...]

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


def message_of(row: Row) -> StoredMessage:
    """The message of a row of `SELECT_MESSAGES`."""
    message_id, chat_id, parent_id, role, parts, token_ids, state, error, created_at, end = row
    return StoredMessage(
        message_id=message_id,
        chat_id=chat_id,
        parent_id=parent_id,
        role=Role(role),
        parts=decode_parts(parts),
        token_ids=decode_token_ids(token_ids),
        state=MessageState(state),
        error=error,
        created_at=created_at,
        end=decode_end(end),
    )
