"""Copies what can still be read of a damaged database into a fresh one.

Reads each table from both ends, past its indexes, so that a damaged page costs what is on it. The damaged file is not
written to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pagedesk.chats.rows import Row, text_of

_TABLES = ("chats", "messages", "open_panes")
"""Those that others refer to come first; the first column of each is its row's number."""

_MENDING = (
    """
    INSERT INTO chats (chat_id, color_index, created_at, updated_at, title)
    SELECT chat_id, 0, min(created_at), max(created_at), '' FROM messages
    WHERE chat_id NOT IN (SELECT chat_id FROM chats) GROUP BY chat_id
    """,
    "UPDATE messages SET parent_id = NULL WHERE parent_id NOT IN (SELECT message_id FROM messages)",
    "DELETE FROM open_panes WHERE chat_id NOT IN (SELECT chat_id FROM chats)",
)
"""Messages whose chat is lost get one without a title."""


def salvage(damaged: Path, connection: sqlite3.Connection) -> int:
    """Fill a fresh database with what can be read of the file at `damaged`.

    Args:
        damaged: The file, beside its log if it has one.
        connection: To the fresh database, in autocommit mode.

    Returns:
        How many messages were read.
    """
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    for table in _TABLES:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        names, places = ", ".join(columns), ", ".join("?" * len(columns))
        insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - names from above
        connection.executemany(insert, _rows(damaged, f"SELECT {names} FROM {table} NOT INDEXED", columns[0]))  # noqa: S608
    for statement in _MENDING:
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    return int(connection.execute("SELECT count(*) FROM messages").fetchone()[0])


def _rows(damaged: Path, query: str, key: str) -> Iterator[Row]:
    """The rows that can be read from the first one on, then those from the last one back."""
    for direction in ("ASC", "DESC"):
        try:
            with closing(_open_untouched(damaged)) as source:
                yield from source.execute(f"{query} ORDER BY {key} {direction}")
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue  # the end of what can be read from this side
        else:
            return


def _open_untouched(path: Path) -> sqlite3.Connection:
    """Read-only; without a log beside it the file is not even locked."""
    options = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
    source = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True)
    source.text_factory = text_of
    source.execute("PRAGMA writable_schema = ON")  # SQLite then reads a file that is shorter than its header says
    return source
