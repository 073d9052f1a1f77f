from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pagedesk.chats.errors import ChatStoreError, DamagedStoreError, NewerSchemaError
from pagedesk.chats.schema import SCHEMA_VERSION
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import Role, TextPart


def with_a_chat(path: Path) -> None:
    store = ChatStore(path)
    chat = store.create_chat("kept")
    for number in range(50):
        store.add_message(chat.chat_id, Role.USER, [TextPart(f"{number} " + "words " * 300)])
    store.close()


def titles(store: ChatStore) -> list[str]:
    return [chat.title for chat in store.chats()]


def overwrite_all(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)


def overwrite_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(100))


def overwrite_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 3 * 4096)


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def drop_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE open_panes")


@pytest.mark.parametrize(
    ("damage", "read"),
    [
        (overwrite_all, []),
        (overwrite_header, []),
        (overwrite_middle, ["kept"]),
        (cut_short, ["kept"]),
        (drop_a_table, ["kept"]),
    ],
)
def test_a_damaged_database_is_moved_aside_whole_and_a_fresh_one_holds_what_could_be_read(
    path: Path, damage: Callable[[Path], None], read: list[str]
) -> None:
    with_a_chat(path)
    damage(path)
    damaged_bytes = path.read_bytes()

    store = ChatStore(path)

    assert store.recovery is not None
    assert store.recovery.cause
    assert store.recovery.moved_to.read_bytes() == damaged_bytes
    assert titles(store) == read
    store.create_chat("new")
    store.close()


def test_all_but_the_messages_on_a_damaged_page_are_kept(path: Path) -> None:
    with_a_chat(path)
    overwrite_middle(path)

    store = ChatStore(path)

    texts = [message.text for message in store.messages(store.chats()[0].chat_id)]
    numbers = [int(text.split()[0]) for text in texts]
    assert numbers[0] == 0
    assert numbers[-1] == 49
    assert 40 < len(numbers) < 50
    assert store.recovery is not None
    assert store.recovery.num_messages == len(numbers)
    store.close()


def test_messages_whose_chat_was_lost_get_a_chat_of_their_own(path: Path) -> None:
    with_a_chat(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DELETE FROM chats; DROP TABLE open_panes")

    store = ChatStore(path)

    (chat,) = store.chats()
    assert len(store.messages(chat.chat_id)) == 50
    store.close()


def spoil_index(path: Path, name: str) -> None:
    """Make an index unreadable in a way that no check of the structure finds at once."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


@pytest.fixture
def _checks_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a large file that was closed well."""
    monkeypatch.setattr("pagedesk.chats.database._ALWAYS_CHECKED_BYTES", 0)


@pytest.mark.usefixtures("_checks_are_skipped")
def test_damage_that_shows_at_the_first_statement_is_recovered_at_once(path: Path) -> None:
    with_a_chat(path)
    spoil_index(path, "messages_under_way")

    store = ChatStore(path)

    assert store.recovery is not None
    assert store.recovery.num_messages == 50
    store.close()


@pytest.mark.usefixtures("_checks_are_skipped")
def test_damage_that_shows_when_a_chat_is_read_is_recovered_at_once(path: Path) -> None:
    with_a_chat(path)
    spoil_index(path, "messages_by_chat")
    store = ChatStore(path)
    assert store.recovery is None

    assert len(store.messages(store.chats()[0].chat_id)) == 50

    assert store.recovery is not None
    assert store.recovery.moved_to.exists()
    store.close()


@pytest.mark.usefixtures("_checks_are_skipped")
def test_damage_that_shows_at_a_write_is_recovered_at_the_next_start(path: Path) -> None:
    with_a_chat(path)
    spoil_index(path, "messages_by_parent")
    store = ChatStore(path)
    (chat,) = store.chats()
    with pytest.raises(DamagedStoreError, match="Start PageDesk again"):
        store.delete_chat(chat.chat_id)
    store.close()

    for is_recovered in (True, False):
        again = ChatStore(path)
        assert (again.recovery is not None) is is_recovered
        assert len(again.messages(chat.chat_id)) == 50
        again.close()


def test_two_damaged_databases_in_one_second_are_both_kept(path: Path) -> None:
    moved_to = set()
    for _ in range(2):
        path.parent.mkdir(exist_ok=True)
        overwrite_all(path)
        store = ChatStore(path)
        assert store.recovery is not None
        moved_to.add(store.recovery.moved_to)
        store.close()

    assert len(moved_to) == 2
    assert all(aside.exists() for aside in moved_to)


def test_a_sound_database_reports_no_recovery(path: Path) -> None:
    with_a_chat(path)

    store = ChatStore(path)

    assert store.recovery is None
    assert titles(store) == ["kept"]
    store.close()


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.parent.mkdir()
    path.touch()

    store = ChatStore(path)

    assert store.recovery is None
    store.close()


def test_a_database_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    with_a_chat(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()

    with pytest.raises(NewerSchemaError, match="newer PageDesk") as caught:
        ChatStore(path)

    assert "Update PageDesk" in caught.value.advice
    assert path.read_bytes() == before


def test_a_folder_in_place_of_the_file_gives_a_sentence(path: Path) -> None:
    path.mkdir(parents=True)

    with pytest.raises(ChatStoreError, match="could not be opened") as caught:
        ChatStore(path)

    assert caught.value.advice


def test_a_database_that_another_program_holds_gives_a_sentence(path: Path) -> None:
    with_a_chat(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(ChatStoreError, match="locked") as caught:
            ChatStore(path)

    assert "Close the other program" in caught.value.advice
    assert path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no open file")
@pytest.mark.parametrize("takes_folder", [False, True])
def test_a_file_that_is_deleted_while_it_is_open_is_put_back_with_the_next_message(
    path: Path, *, takes_folder: bool
) -> None:
    store = ChatStore(path)
    chat = store.create_chat("a")
    store.add_message(chat.chat_id, Role.USER, [TextPart("before")])
    for entry in list(path.parent.iterdir()):
        entry.unlink()
    if takes_folder:
        path.parent.rmdir()

    store.add_message(chat.chat_id, Role.USER, [TextPart("after")])
    store.add_message(chat.chat_id, Role.USER, [TextPart("later")])

    store.close()
    again = ChatStore(path)
    assert [message.text for message in again.messages(chat.chat_id)] == ["before", "after", "later"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again.close()


def busy_timeout_ms(store: ChatStore) -> int:
    return int(store._connection.execute("PRAGMA busy_timeout").fetchone()[0])


def test_another_programs_lock_holds_the_window_for_a_moment_only(path: Path) -> None:
    store = ChatStore(path)
    assert busy_timeout_ms(store) <= 50
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ChatStoreError, match="another program has locked"):
            store.create_chat("a")
    store.create_chat("b")
    store.close()


def test_at_the_end_another_programs_lock_is_waited_for(path: Path) -> None:
    store = ChatStore(path)
    store.be_patient()
    assert busy_timeout_ms(store) == 1000
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file modes")
def test_files_and_folder_are_readable_by_their_owner_only(path: Path) -> None:
    old_mask = os.umask(0)
    try:
        store = ChatStore(path)
        store.create_chat("secret")
        files = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
        folder_mode = stat.S_IMODE(path.parent.stat().st_mode)
        store.close()
    finally:
        os.umask(old_mask)

    assert files == {"chats.sqlite3": 0o600, "chats.sqlite3-wal": 0o600, "chats.sqlite3-shm": 0o600}
    assert folder_mode == 0o700
