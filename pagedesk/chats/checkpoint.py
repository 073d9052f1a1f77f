"""Folds the log of the database back into its file on a thread of its own: that waits for the disk.

Has its own connection, so the rule of one thread for the store's connection holds. A passive checkpoint stops
no writer.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from pagedesk.chats.database import connect

_logger = logging.getLogger(__name__)


class Checkpointer:
    """Starts a checkpoint after every `writes_between` writes, never two at once."""

    def __init__(self, path: Path, writes_between: int = 200) -> None:
        self._path = path
        self._writes_between = writes_between
        self._num_writes = 0
        self._thread: threading.Thread | None = None

    def count_write(self) -> None:
        """Tell of one transaction."""
        self._num_writes += 1
        if self._num_writes < self._writes_between or (self._thread and self._thread.is_alive()):
            return
        self._num_writes = 0
        self._thread = threading.Thread(target=self._run, name="chats-checkpoint", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for a checkpoint that is under way."""
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(connect(self._path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error:
            # Nothing is lost: the log keeps everything until the next checkpoint.
            _logger.warning("the log of the chats was not folded back", exc_info=True)
