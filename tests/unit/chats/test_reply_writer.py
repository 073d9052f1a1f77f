from __future__ import annotations

import pytest

from pagedesk.chats.errors import ChatStoreError
from pagedesk.chats.models import MessageState, StoredMessage
from pagedesk.chats.reply_writer import ReplyWriter
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import Role


def new_reply(store: ChatStore) -> StoredMessage:
    return store.add_message(store.create_chat("a").chat_id, Role.ASSISTANT, [], MessageState.WRITING)


def stored(store: ChatStore, reply: StoredMessage) -> tuple[str, tuple[int, ...], MessageState]:
    (message,) = store.messages(reply.chat_id)
    return message.text, message.token_ids, message.state


def test_deltas_are_written_by_a_flush_and_not_before(store: ChatStore) -> None:
    writer, reply = ReplyWriter(store), new_reply(store)

    writer.note(reply.message_id, "Hel", [1])
    before = stored(store, reply)
    writer.note(reply.message_id, "lo", [2, 3])
    writer.flush()

    assert before == ("", (), MessageState.WRITING)
    assert stored(store, reply) == ("Hello", (1, 2, 3), MessageState.WRITING)


def test_several_replies_grow_side_by_side(store: ChatStore) -> None:
    writer, first, second = ReplyWriter(store), new_reply(store), new_reply(store)
    for number in range(3):
        writer.note(first.message_id, "a", [number])
        writer.note(second.message_id, "b", [number + 10])
        writer.flush()

    assert stored(store, first) == ("aaa", (0, 1, 2), MessageState.WRITING)
    assert stored(store, second) == ("bbb", (10, 11, 12), MessageState.WRITING)


def test_finish_writes_at_once(store: ChatStore) -> None:
    writer, reply = ReplyWriter(store), new_reply(store)
    writer.note(reply.message_id, "done", [9])

    writer.finish(reply.message_id, MessageState.DONE)

    assert stored(store, reply) == ("done", (9,), MessageState.DONE)


def test_a_reply_that_fails_before_its_first_word_keeps_the_reason(store: ChatStore) -> None:
    writer, reply = ReplyWriter(store), new_reply(store)

    writer.finish(reply.message_id, MessageState.FAILED, error="The prompt is too long.")

    (message,) = store.messages(reply.chat_id)
    assert (message.state, message.error) == (MessageState.FAILED, "The prompt is too long.")


def test_what_found_no_room_is_written_by_the_next_flush(store: ChatStore) -> None:
    writer, reply = ReplyWriter(store), new_reply(store)
    text = "long " * 10_000
    writer.note(reply.message_id, text, [4])
    limit_pages(store, 20)
    with pytest.raises(ChatStoreError, match="full") as caught:
        writer.finish(reply.message_id, MessageState.DONE)

    limit_pages(store, 1000)
    writer.flush()

    assert "Free some space" in caught.value.advice
    assert stored(store, reply) == (text, (4,), MessageState.DONE)


def limit_pages(store: ChatStore, num_pages: int) -> None:
    """Make the disk look full once the file has so many pages."""
    store._connection.execute(f"PRAGMA max_page_count = {num_pages}")
