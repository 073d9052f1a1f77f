"""The tables of the store and the steps from one version of them to the next.

`PRAGMA user_version` is the number of steps that were done. Small columns stand before long ones, so that a scan
does not read the pages that long texts overflow into.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pagedesk.chats.errors import NewerSchemaError

_FIRST_TABLES = (
    """
    CREATE TABLE chats (
        chat_index INTEGER PRIMARY KEY,
        chat_id TEXT NOT NULL UNIQUE,
        color_index INTEGER NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        title TEXT NOT NULL,
        system_prompt TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX chats_by_update ON chats (updated_at)",
    """
    CREATE TABLE messages (
        message_index INTEGER PRIMARY KEY,
        message_id TEXT NOT NULL UNIQUE,
        chat_id TEXT NOT NULL REFERENCES chats (chat_id) ON DELETE CASCADE,
        parent_id TEXT REFERENCES messages (message_id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at REAL NOT NULL,
        error TEXT NOT NULL DEFAULT '',
        end TEXT,
        token_ids BLOB NOT NULL,
        parts TEXT NOT NULL
    )
    """,
    "CREATE INDEX messages_by_chat ON messages (chat_id, message_index)",
    "CREATE INDEX messages_by_parent ON messages (parent_id)",
    "CREATE INDEX messages_under_way ON messages (state) WHERE state = 'writing'",
    """
    CREATE TABLE open_panes (
        pane_index INTEGER PRIMARY KEY,
        chat_id TEXT NOT NULL REFERENCES chats (chat_id) ON DELETE CASCADE
    )
    """,
)

_STEPS: tuple[tuple[str, ...], ...] = (_FIRST_TABLES,)
SCHEMA_VERSION = len(_STEPS)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Do the steps that the file lacks, all or none of them.

    Args:
        connection: In autocommit mode.
        path: The file, for the sentence of an error.

    Raises:
        NewerSchemaError: A later PageDesk wrote the file; it is left as it is.
    """
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _do_steps(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _do_steps(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"The chats in {path} are of a newer PageDesk (format {version}; this one knows {SCHEMA_VERSION}).",
            "Update PageDesk to open them; they were not changed.",
        )
    for step in _STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
