"""Opens the database file: private, in WAL mode, up to date, no reply under way.

A damaged file is moved aside, and what can be read of it fills a fresh one. Runs on the thread that will use the
connection. A whole file is checked for damage if it is small or if the last run did not close it (its log is still
there); a large file that was closed well is trusted, to start at once, until it shows damage in use: then a mark beside
it makes the next opening recover it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from pagedesk.chats.errors import DAMAGE_CODES, described, explained, primary_code
from pagedesk.chats.models import Recovery
from pagedesk.chats.rows import STOP_REPLIES_UNDER_WAY, text_of
from pagedesk.chats.salvage import salvage
from pagedesk.chats.schema import bring_up_to_date

_TIMEOUT_S = 1.0
_IMPATIENT_MS = 50
_ALWAYS_CHECKED_BYTES = 16 * 1024 * 1024
_COMPANIONS = ("", "-wal", "-shm")


def open_database(path: Path) -> tuple[sqlite3.Connection, Recovery | None]:
    """Open the file at `path`, or make it, with its folder, readable by its owner only.

    Returns:
        The connection (autocommit mode) and, if the file was damaged, what became of it.

    Raises:
        NewerSchemaError: A later PageDesk wrote the file.
        ChatStoreError: The file cannot be opened for a reason that a fresh one would not cure.
    """
    with explained(path):
        try:
            if not _mark(path).exists():
                return _open(path), None
            cause = "it showed damage when it was used last"
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if primary_code(error) not in DAMAGE_CODES:
                raise
            cause = described(error)
        return _recover(path, cause)


def wait_for_others(connection: sqlite3.Connection, *, patiently: bool) -> None:
    """How long a statement waits for another program's lock: a second, or no longer than a window may stand still."""
    connection.execute(f"PRAGMA busy_timeout = {int(_TIMEOUT_S * 1000) if patiently else _IMPATIENT_MS}")


def put_back(path: Path, connection: sqlite3.Connection) -> sqlite3.Connection:
    """Write the file anew that somebody deleted while it was open: the system keeps what an open file holds.

    Returns:
        A connection to the new file; the one given is closed.
    """
    copy = path.with_name(path.name + "-put-back")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)
    _make_private(copy)
    with closing(connect(copy)) as target:
        connection.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, which can be renamed
    connection.close()
    copy.replace(path)
    return _open(path)


def mark_damaged(path: Path) -> None:
    """Make the next opening of this file recover it."""
    with suppress(OSError):
        _mark(path).touch(mode=0o600)


def _mark(path: Path) -> Path:
    return path.with_name(path.name + "-is-damaged")


def _recover(path: Path, cause: str) -> tuple[sqlite3.Connection, Recovery]:
    moved_to = _move_aside(path)
    connection = _open(path)
    try:
        num_messages = salvage(moved_to, connection)
    except BaseException:
        connection.close()
        raise
    _mark(path).unlink(missing_ok=True)
    return connection, Recovery(moved_to, cause, num_messages)


def _open(path: Path) -> sqlite3.Connection:
    must_check = _must_check(path)
    _make_private(path)
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        bring_up_to_date(connection, path)
        if must_check:
            _check(connection)
        connection.execute(STOP_REPLIES_UNDER_WAY)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode whose commits outlive the process, for the calling thread alone.

    Text that is not UTF-8 (a damaged disk) is read with U+FFFD in place of what is wrong.
    """
    connection = sqlite3.connect(path, timeout=_TIMEOUT_S, isolation_level=None)
    connection.text_factory = text_of
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _make_private(path: Path) -> None:
    """Create folder and file for the owner only; SQLite gives its companions the rights of the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


def _must_check(path: Path) -> bool:
    if not path.exists():
        return False
    closed_well = not path.with_name(path.name + "-wal").exists()
    return not closed_well or path.stat().st_size <= _ALWAYS_CHECKED_BYTES


def _check(connection: sqlite3.Connection) -> None:
    """Raise what SQLite would raise later if a page were damaged or a table missing."""
    for table in ("chats", "messages", "open_panes"):
        connection.execute(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608 - a name from the line above
    with closing(connection.execute("PRAGMA quick_check(1)")) as cursor:
        verdict = str(cursor.fetchone()[0])
    if verdict != "ok":
        error = sqlite3.DatabaseError(verdict)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _move_aside(path: Path) -> Path:
    """Rename the damaged file and its companions; the name tells when. Returns the new path."""
    moved_to = _free_name(path, time.strftime("%Y%m%d-%H%M%S"))
    for suffix in _COMPANIONS:
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.replace(moved_to.with_name(moved_to.name + suffix))
    return moved_to


def _free_name(path: Path, stamp: str) -> Path:
    candidate = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    number = 2
    while candidate.exists():
        candidate = path.with_name(f"{path.stem}.damaged-{stamp}-{number}{path.suffix}")
        number += 1
    return candidate
