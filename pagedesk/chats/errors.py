"""The errors of the store; each carries a sentence and a next step for the user.

None of them quotes what was stored: sentences end up in the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagedesk.system.errors import UserError


class ChatStoreError(UserError):
    """The chats could not be opened, read or written."""


class NewerSchemaError(ChatStoreError):
    """The file was written by a PageDesk with a later format; it was not touched."""


class DamagedStoreError(ChatStoreError):
    """The file is damaged."""


DAMAGE_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
"""SQLITE_ERROR: a statement of ours that names no table or column any more."""

_RECOVERS = "Start PageDesk again: it moves the damaged file aside and keeps what can be read of it."

_WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "the file or its folder cannot be opened",
    sqlite3.SQLITE_BUSY: "another program has locked the file",
    sqlite3.SQLITE_LOCKED: "another program has locked the file",
    **dict.fromkeys(DAMAGE_CODES, "the file is damaged"),
    sqlite3.SQLITE_IOERR: "the disk reports an error",
}
_ADVICE = {
    sqlite3.SQLITE_FULL: "Free some space on that disk; PageDesk tries again with the next message.",
    sqlite3.SQLITE_READONLY: "Allow yourself to write to that file and its folder, then start PageDesk again.",
    sqlite3.SQLITE_CANTOPEN: "Allow yourself to write to that file and its folder, then start PageDesk again.",
    sqlite3.SQLITE_BUSY: "Close the other program that uses the file (another PageDesk?), then try again.",
    sqlite3.SQLITE_LOCKED: "Close the other program that uses the file (another PageDesk?), then try again.",
    **dict.fromkeys(DAMAGE_CODES, _RECOVERS),
}


def primary_code(error: Exception) -> int:
    """SQLite's result code without its extension byte (https://sqlite.org/rescode.html); 0 if there is none.

    A damaged schema is quoted in SQLite's message, which then need not be text: Python raises that instead.
    """
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def described(error: Exception) -> str:
    """What happened, in our words and with the name of SQLite's code: SQLite's sentence may quote what was stored."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return f"{_WORDS.get(primary_code(error), 'SQLite refused it')} ({name})"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite or the file system raises inside into a `ChatStoreError` about the file at `path`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # our own mistake (a foreign thread, a closed store), not the user's
    except sqlite3.IntegrityError as error:
        cause = f"That chat is not in the store any more ({error})."
        raise ChatStoreError(cause, "Open a new chat and send the message there.") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        advice = _ADVICE.get(primary_code(error), "Check the disk that holds the file, then start PageDesk again.")
        kind = DamagedStoreError if primary_code(error) in DAMAGE_CODES else ChatStoreError
        raise kind(f"The chats in {path} could not be read or written: {described(error)}.", advice) from None
    except OSError as error:
        raise ChatStoreError(
            f"The chats in {path} could not be opened: {error.strerror or error}.", _ADVICE[sqlite3.SQLITE_CANTOPEN]
        ) from error
