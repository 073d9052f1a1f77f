from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from pagedesk.chats.errors import ChatStoreError
from pagedesk.chats.models import NUM_CHAT_COLORS, Chat, MessageState, ReplyEnd, ReplyUpdate, UnknownPart
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import FinishReason, ReasoningPart, Role, TextPart, Timings, Usage

END = ReplyEnd(FinishReason.STOP, Usage(30, 16, 5, 16), Timings(1.0, 2.0, 3.0, 4.0, 5.5))
UNKNOWN = UnknownPart('{"kind": "tool_call", "name": "clock", "arguments": {"zone": "東京"}}')


def reopened(path: Path) -> ChatStore:
    return ChatStore(path)


def test_a_chat_with_its_messages_is_the_same_after_a_restart(store: ChatStore, path: Path) -> None:
    chat = store.create_chat("勘定 👩‍👩‍👧")
    sent = store.add_message(chat.chat_id, Role.USER, [TextPart("How much?")])
    reply = store.add_message(
        chat.chat_id, Role.ASSISTANT, [ReasoningPart("Hm."), TextPart("42")], token_ids=[0, 65_535, 128_000]
    )
    store.close()

    again = reopened(path)

    assert again.messages(chat.chat_id) == [sent, reply]
    assert again.chats()[0].title == "勘定 👩‍👩‍👧"
    again.close()


def test_a_message_follows_the_newest_one_of_its_chat(store: ChatStore) -> None:
    first_chat, second_chat = store.create_chat("a"), store.create_chat("b")
    first = store.add_message(first_chat.chat_id, Role.USER, [TextPart("1")])
    elsewhere = store.add_message(second_chat.chat_id, Role.USER, [TextPart("2")])
    second = store.add_message(first_chat.chat_id, Role.ASSISTANT, [TextPart("3")])

    assert (first.parent_id, elsewhere.parent_id, second.parent_id) == (None, None, first.message_id)


def test_writes_that_belong_together_are_all_made_or_none(store: ChatStore) -> None:
    chat = store.create_chat("a")

    def ask_in_a_chat_that_is_gone() -> None:
        with store.together():
            store.add_message(chat.chat_id, Role.USER, [TextPart("1")])
            store.add_message("gone", Role.ASSISTANT, [])

    with pytest.raises(ChatStoreError):
        ask_in_a_chat_that_is_gone()

    assert store.messages(chat.chat_id) == []


def test_the_chat_with_the_newest_message_comes_first(store: ChatStore) -> None:
    chats = [store.create_chat(title) for title in "abc"]
    store.add_message(chats[0].chat_id, Role.USER, [TextPart("hi")])

    assert [chat.title for chat in store.chats()] == ["a", "c", "b"]


def test_a_chat_can_be_renamed_and_given_a_system_prompt(store: ChatStore) -> None:
    chat = store.create_chat("old")

    store.rename_chat(chat.chat_id, "new")
    store.set_system_prompt(chat.chat_id, "Be brief.")

    (stored,) = store.chats()
    assert stored == Chat(chat.chat_id, "new", 0, "Be brief.", chat.created_at, chat.updated_at)


def test_a_deleted_chat_takes_its_messages_and_its_pane_along(store: ChatStore) -> None:
    gone, kept = store.create_chat("gone"), store.create_chat("kept")
    for text in ("one", "two"):
        store.add_message(gone.chat_id, Role.USER, [TextPart(text)])
    store.set_open_panes([kept.chat_id, gone.chat_id])

    store.delete_chat(gone.chat_id)

    assert store.chats() == [kept]
    assert store.messages(gone.chat_id) == []
    assert store.open_panes() == [kept.chat_id]


def test_open_panes_come_back_left_to_right(store: ChatStore, path: Path) -> None:
    ids = [store.create_chat(title).chat_id for title in "abc"]
    store.set_open_panes(ids)
    store.set_open_panes([ids[2], "of a chat that never was", ids[0]])
    store.close()

    again = reopened(path)

    assert again.open_panes() == [ids[2], ids[0]]
    again.close()


def test_each_of_the_twelve_newest_chats_has_its_own_color(store: ChatStore) -> None:
    colors = [store.create_chat(str(number)).color_index for number in range(NUM_CHAT_COLORS * 2)]

    assert colors == [*range(NUM_CHAT_COLORS), *range(NUM_CHAT_COLORS)]


def test_a_new_chat_takes_the_lowest_color_that_is_free(store: ChatStore) -> None:
    chats = [store.create_chat(str(number)) for number in range(4)]
    store.delete_chat(chats[1].chat_id)

    assert store.create_chat("new").color_index == 1


def test_a_part_of_an_unknown_kind_survives_a_round_trip(store: ChatStore) -> None:
    chat = store.create_chat("a")
    added = store.add_message(chat.chat_id, Role.ASSISTANT, [TextPart("a"), UNKNOWN])

    (read,) = store.messages(chat.chat_id)
    store.update_replies([ReplyUpdate(added.message_id, read.parts, (), MessageState.DONE)])

    assert store.messages(chat.chat_id)[0].parts == (TextPart("a"), UNKNOWN)


def test_replies_are_updated_with_text_tokens_state_and_end(store: ChatStore) -> None:
    chat = store.create_chat("a")
    reply = store.add_message(chat.chat_id, Role.ASSISTANT, [], MessageState.WRITING)

    store.update_replies([ReplyUpdate(reply.message_id, (TextPart("ok"),), (5, 6), MessageState.DONE, "", END)])

    (read,) = store.messages(chat.chat_id)
    assert (read.text, read.token_ids, read.state, read.end) == ("ok", (5, 6), MessageState.DONE, END)


def test_an_update_of_a_deleted_reply_leaves_the_others_their_update(store: ChatStore) -> None:
    chat = store.create_chat("a")
    reply = store.add_message(chat.chat_id, Role.ASSISTANT, [], MessageState.WRITING)

    store.update_replies(
        [
            ReplyUpdate("gone", (), (), MessageState.DONE),
            ReplyUpdate(reply.message_id, (TextPart("here"),), (), MessageState.DONE),
        ]
    )

    assert [message.text for message in store.messages(chat.chat_id)] == ["here"]


def test_a_reply_under_way_when_the_program_was_killed_is_stopped_at_the_next_start(path: Path) -> None:
    killed = ChatStore(path)
    chat = killed.create_chat("a")
    killed.add_message(chat.chat_id, Role.ASSISTANT, [TextPart("Once")], MessageState.WRITING)
    killed.close()

    again = reopened(path)

    assert [(m.state, m.text) for m in again.messages(chat.chat_id)] == [(MessageState.STOPPED, "Once")]
    again.close()


def test_half_an_emoji_from_a_clipboard_is_stored_as_a_replacement_character(store: ChatStore) -> None:
    chat = store.create_chat("bad \ud83d title")
    store.add_message(chat.chat_id, Role.USER, [TextPart("so \ud83d bad, so \ud83d\ude00 good")])

    assert store.chats()[0].title == "bad \ufffd title"
    assert store.messages(chat.chat_id)[0].text == "so \ufffd bad, so 😀 good"


def test_a_message_to_a_deleted_chat_is_refused_with_a_sentence_and_changes_nothing(store: ChatStore) -> None:
    chat = store.create_chat("a")
    store.delete_chat(chat.chat_id)

    with pytest.raises(ChatStoreError, match="not in the store any more") as caught:
        store.add_message(chat.chat_id, Role.USER, [TextPart("hello?")])

    assert caught.value.advice
    assert store.messages(chat.chat_id) == []


def test_another_thread_is_refused(store: ChatStore) -> None:
    caught: list[BaseException] = []

    def read() -> None:
        try:
            store.chats()
        except sqlite3.ProgrammingError as error:
            caught.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()

    assert len(caught) == 1


def test_the_log_is_folded_back_while_the_store_is_in_use(store: ChatStore, path: Path) -> None:
    chat = store.create_chat("a")
    size_before = path.stat().st_size
    for number in range(400):
        store.add_message(chat.chat_id, Role.USER, [TextPart(f"{number} " + "long " * 200)])
    store._checkpointer.join()

    assert path.stat().st_size > size_before + 100_000


def test_a_closed_store_is_one_file(path: Path) -> None:
    store = ChatStore(path)
    store.create_chat("a")
    store.close()

    assert [entry.name for entry in path.parent.iterdir()] == ["chats.sqlite3"]
