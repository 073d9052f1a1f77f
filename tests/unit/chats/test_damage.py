"""What the disk gives back in place of what was written: it is shown as damaged, and everything else opens."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagedesk.chats.errors import ChatStoreError, NewerSchemaError, explained
from pagedesk.chats.models import NUM_CHAT_COLORS, Chat, MessageState, StoredMessage
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import Role, TextPart


@pytest.fixture
def chat(store: ChatStore) -> Chat:
    """A chat of three messages."""
    chat = store.create_chat("kept")
    for role, text, ids in (
        (Role.USER, "my question", ()),
        (Role.ASSISTANT, "its answer", (5, 6)),
        (Role.USER, "hm", ()),
    ):
        store.add_message(chat.chat_id, role, [TextPart(text)], token_ids=ids)
    return chat


def damaged(store: ChatStore, path: Path, chat: Chat, statement: str) -> list[StoredMessage]:
    """The messages of the chat after another program ran a statement."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    return store.messages(chat.chat_id)


@pytest.mark.parametrize(
    "change",
    [
        "parts = replace(parts, '[{', 'X{')",
        "parts = CAST(replace(parts, '[{', 'X{') AS BLOB)",
        "role = 'uzer'",
        "state = x'00ff'",
    ],
)
def test_a_damaged_message_is_told_apart_and_its_text_read(
    store: ChatStore, path: Path, chat: Chat, change: str
) -> None:
    messages = damaged(store, path, chat, f"UPDATE messages SET {change} WHERE message_index = 1")

    assert [(m.state, m.text) for m in messages] == [
        (MessageState.DAMAGED, "my question"),
        (MessageState.DONE, "its answer"),
        (MessageState.DONE, "hm"),
    ]


def test_a_message_whose_role_is_damaged_is_a_reply_if_it_was_generated(
    store: ChatStore, path: Path, chat: Chat
) -> None:
    messages = damaged(store, path, chat, "UPDATE messages SET role = '???'")
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT, Role.USER]


def test_a_reply_whose_ids_are_damaged_keeps_its_words(store: ChatStore, path: Path, chat: Chat) -> None:
    reply = damaged(store, path, chat, "UPDATE messages SET token_ids = x'' WHERE message_index = 2")[1]
    assert (reply.state, reply.text, reply.token_ids) == (MessageState.DONE, "its answer", ())


def test_bytes_that_are_no_utf_8_are_read_as_replacement_characters(store: ChatStore, path: Path, chat: Chat) -> None:
    broken = "UPDATE messages SET parts = CAST(replace(CAST(parts AS BLOB), x'6d', x'ff') AS TEXT)"
    assert damaged(store, path, chat, broken)[0].text == "\ufffdy question"


def test_a_damaged_chat_is_listed(store: ChatStore, path: Path, chat: Chat) -> None:
    damaged(store, path, chat, "UPDATE chats SET color_index = 77, title = 'a' || x'ff', updated_at = 'x'")

    (listed,) = store.chats()
    assert 0 <= listed.color_index < NUM_CHAT_COLORS
    assert (listed.title, listed.updated_at) == ("a\ufffd", 0.0)


def test_no_error_quotes_what_was_stored(path: Path) -> None:
    error = sqlite3.OperationalError("could not decode 'my secret diary'")

    with pytest.raises(ChatStoreError) as caught, explained(path):
        raise error

    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of a few pages."""
    path = tmp_path_factory.mktemp("sound") / "chats.sqlite3"
    store = ChatStore(path)
    for number in range(3):
        chat = store.create_chat(f"chat {number}")
        for text in ("question " * 30, "answer " * 60):
            store.add_message(chat.chat_id, Role.ASSISTANT, [TextPart(text)], token_ids=range(50))
    store.set_open_panes([chat.chat_id])
    store.close()
    return path


@settings(max_examples=100, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), damage=st.binary(min_size=1, max_size=512))
def test_a_database_with_any_bytes_overwritten_opens(sound: Path, place: float, damage: bytes) -> None:
    data = sound.read_bytes()
    start = int(place * len(data))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chats.sqlite3"
        path.write_bytes((data[:start] + damage + data[start + len(damage) :])[: len(data)])
        # A damaged version number cannot be told from one of a later program.
        with suppress(NewerSchemaError), closing(ChatStore(path)) as store:
            for chat_id in [chat.chat_id for chat in store.chats()] + store.open_panes():
                store.messages(chat_id)
