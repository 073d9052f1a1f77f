"""The store of chats and messages: SQLite under the user's data folder, plain values in and out.

One thread owns a store (the window's): its connection refuses all others. A call takes well under a millisecond and
never waits for the disk: a commit goes to the log, which the system keeps if the process is killed. For another program
that holds the file it waits some 50 ms, then fails.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pagedesk.chats import rows
from pagedesk.chats.checkpoint import Checkpointer
from pagedesk.chats.codec import writable
from pagedesk.chats.database import mark_damaged, open_database, put_back, wait_for_others
from pagedesk.chats.errors import DamagedStoreError, explained
from pagedesk.chats.models import NUM_CHAT_COLORS, Chat, MessageState, ReplyUpdate, StoredMessage, StoredPart
from pagedesk.protocol import Role


class ChatStore:
    """Chats, their messages and the panes that were open.

    Every method raises `ChatStoreError` if the file cannot be read or written. A file that turns out to be damaged when
    something is read is recovered at once, when something is written at the next start.

    Args:
        path: The database file; made if missing. Replies that a killed program left unfinished become STOPPED.
        clock: Seconds since the epoch.

    Attributes:
        recovery: What became of a damaged file that was found at `path`; None as long as all is well.

    Raises:
        NewerSchemaError: A later PageDesk wrote the file; it was not changed.
        ChatStoreError: The file cannot be opened.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._connection, self.recovery = open_database(path)
        self._is_patient = False
        wait_for_others(self._connection, patiently=False)
        self._checkpointer = Checkpointer(path)

    def be_patient(self) -> None:
        """Wait up to a second for another program's lock from now on: nobody looks at the window any more."""
        self._is_patient = True
        wait_for_others(self._connection, patiently=True)

    def close(self) -> None:
        """Fold the log into the file and let go of it; the store cannot be used afterwards."""
        self._checkpointer.join()
        with explained(self._path):
            self._connection.close()

    def create_chat(self, title: str) -> Chat:
        """Add an empty chat in a colour that the chats used last do not have."""
        now = self._clock()
        chat = Chat(uuid.uuid4().hex, title, self._free_color(), "", now, now)
        with self._writing():
            self._run(rows.INSERT_CHAT, rows.chat_row(chat))
        return chat

    def chats(self) -> list[Chat]:
        """All chats, the one with the newest message first."""
        return [rows.chat_of(row) for row in self._read(rows.SELECT_CHATS)]

    def rename_chat(self, chat_id: str, title: str) -> None:
        """Give a chat another title."""
        with self._writing():
            self._run("UPDATE chats SET title = ? WHERE chat_id = ?", (writable(title), chat_id))

    def set_system_prompt(self, chat_id: str, text: str) -> None:
        """Set what the model is told before the first message; empty for nothing."""
        with self._writing():
            self._run("UPDATE chats SET system_prompt = ? WHERE chat_id = ?", (writable(text), chat_id))

    def delete_chat(self, chat_id: str) -> None:
        """Delete a chat, its messages and its pane."""
        with self._writing():
            self._run("DELETE FROM chats WHERE chat_id = ?", (chat_id,))

    def messages(self, chat_id: str) -> list[StoredMessage]:
        """The messages of a chat in the order in which they were added."""
        return [rows.message_of(row) for row in self._read(rows.SELECT_MESSAGES, (chat_id,))]

    def add_message(
        self,
        chat_id: str,
        role: Role,
        parts: Sequence[StoredPart],
        state: MessageState = MessageState.DONE,
        token_ids: Sequence[int] = (),
    ) -> StoredMessage:
        """Add a message after the newest one of its chat.

        Raises:
            ChatStoreError: There is no such chat.
        """
        message = StoredMessage(
            message_id=uuid.uuid4().hex,
            chat_id=chat_id,
            parent_id=self._newest_message_id(chat_id),
            role=role,
            parts=tuple(parts),
            token_ids=tuple(token_ids),
            state=state,
            error="",
            created_at=self._clock(),
        )
        with self._writing():
            self._run(rows.INSERT_MESSAGE, rows.message_row(message))
            self._run(rows.TOUCH_CHAT, (message.created_at, chat_id))
        return message

    def update_replies(self, replies: Sequence[ReplyUpdate]) -> None:
        """Write some replies in one transaction; those whose chat was deleted are left out."""
        with self._writing():
            self._connection.executemany(rows.UPDATE_REPLY, [rows.reply_row(reply) for reply in replies])

    def open_panes(self) -> list[str]:
        """The ids of the chats in the panes, left to right."""
        return [rows.text_of(chat_id) for (chat_id,) in self._read(rows.SELECT_PANES)]

    def set_open_panes(self, chat_ids: Sequence[str]) -> None:
        """Remember the chats in the panes, left to right; ids of chats that are gone are left out."""
        with self._writing():
            self._run("DELETE FROM open_panes")
            self._connection.executemany(rows.INSERT_PANE, list(enumerate(chat_ids)))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of the writes inside: all of them, or none."""
        with self._writing():
            yield

    def _newest_message_id(self, chat_id: str) -> str | None:
        found = self._read(rows.SELECT_NEWEST_MESSAGE, (chat_id,))
        return found[0][0] if found else None

    def _free_color(self) -> int:
        """The lowest colour that none of the chats used last has: of one chat less than there are colours."""
        found = self._read(rows.SELECT_NEWEST_COLORS, (NUM_CHAT_COLORS - 1,))
        return min(set(range(NUM_CHAT_COLORS)) - {color_index for (color_index,) in found})

    def _run(self, statement: str, arguments: Sequence[object] = ()) -> None:
        self._connection.execute(statement, arguments)

    def _read(self, query: str, arguments: Sequence[object] = ()) -> list[rows.Row]:
        try:
            return self._fetch(query, arguments)
        except DamagedStoreError:
            if self._connection.in_transaction:
                raise
        self._recover()
        return self._fetch(query, arguments)

    def _fetch(self, query: str, arguments: Sequence[object]) -> list[rows.Row]:
        with self._explained():
            return self._connection.execute(query, arguments).fetchall()

    def _put_back_if_deleted(self) -> None:
        """What is written to a deleted file would be lost at the end."""
        if not self._path.exists():
            self._checkpointer.join()
            self._connection = put_back(self._path, self._connection)
            wait_for_others(self._connection, patiently=self._is_patient)

    def _recover(self) -> None:
        """Move the file aside and go on with what can be read of it."""
        self._checkpointer.join()
        self._connection.close()
        self._connection, self.recovery = open_database(self._path)
        wait_for_others(self._connection, patiently=self._is_patient)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with explained(self._path):
                yield
        except DamagedStoreError:
            mark_damaged(self._path)
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of what is run inside, or nothing; inside `together` a part of that one."""
        if self._connection.in_transaction:
            yield
            return
        with self._explained():
            self._put_back_if_deleted()
        with self._explained(), self._transaction():
            yield
        self._checkpointer.count_write()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._run("BEGIN IMMEDIATE")
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._run("ROLLBACK")
            raise
