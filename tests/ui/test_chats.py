"""What happens to a message from the composer to the store, and to the events that come back."""

import sqlite3
from contextlib import closing

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QApplication

from pagedesk.chats.errors import ChatStoreError
from pagedesk.chats.models import MessageState
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import Cancel, Failed, FinishReason, Role, SetFocus, Started, TextDelta, TurnsDropped, Waiting
from pagedesk.system.paths import database_path
from pagedesk.ui.chat.conversation import Activity, ShownMessage
from pagedesk.ui.chat.reply_notes import line_of
from tests.helpers.fake_engine import finished


def delta(request_id: str, text: str, *token_ids: int) -> TextDelta:
    return TextDelta(request_id, 0, text, token_ids)


def texts(desk, pane_index: int = 0) -> list[str]:
    return [message.text for message in desk.pane(pane_index).conversation.messages]


def stored(desk, pane_index: int = 0):
    return desk.application.store.messages(desk.pane(pane_index).conversation.chat_id)


def test_a_message_is_in_the_store_before_the_engine_has_it(desk):
    order = []
    chat_id = desk.pane().conversation.chat_id
    desk.engine.send = lambda _command: order.append([m.text for m in desk.application.store.messages(chat_id)])
    desk.controller.ask(chat_id, "Hello")
    assert order == [["Hello", ""]]


def test_replies_of_two_chats_reach_their_own_panes(desk):
    first, second = desk.ask("one", 0), desk.ask("two", 1)
    desk.say(delta(first, "A", 1), delta(second, "B", 2), delta(first, "a", 3), finished(second), finished(first))
    assert texts(desk, 0) == ["one", "Aa"]
    assert texts(desk, 1) == ["two", "B"]
    assert [m.token_ids for m in stored(desk, 0)] == [(), (1, 3)]


def test_a_reply_reaches_its_chat_after_its_pane_was_closed(desk):
    chat_id = desk.pane(1).conversation.chat_id
    request_id = desk.ask("two", 1)
    desk.window.panes.close_pane(desk.pane(1))
    desk.say(Started(request_id, 4, 0), delta(request_id, "still here", 1, 2), finished(request_id))
    assert [m.text for m in desk.application.store.messages(chat_id)] == ["two", "still here"]
    assert texts(desk, 0) == []


def test_a_reply_reaches_its_chat_after_another_took_its_pane(desk):
    request_id = desk.ask("one", 0)
    chat_id = desk.pane(0).conversation.chat_id
    desk.window.panes.show_chat(desk.controller.new_chat())
    desk.say(delta(request_id, "late", 1), finished(request_id))
    desk.window.panes.show_chat(chat_id)
    assert texts(desk, 0) == ["one", "late"]


def test_events_of_unknown_requests_change_nothing(desk):
    desk.say(
        TurnsDropped("?", 2, 9),
        Started("?", 1, 0),
        delta("?", "x", 1),
        Waiting("?", 1, 0),
        finished("?"),
        Failed("?", "a", "b"),
    )
    assert texts(desk, 0) == texts(desk, 1) == []


def test_the_second_turn_sends_the_ids_that_were_generated(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "A b", 7, 8), finished(request_id))
    desk.ask("two")
    roles_and_ids = [(m.role, m.text, m.token_ids) for m in desk.engine.submits()[-1].messages]
    assert roles_and_ids == [
        (Role.USER, "one", None),
        (Role.ASSISTANT, "A b", (7, 8)),
        (Role.USER, "two", None),
    ]


def test_the_first_message_names_the_chat(desk):
    desk.ask("Explain how a lighthouse lens works. Be brief.")
    assert desk.pane().header.title == "Explain how a lighthouse lens works"
    assert desk.controller.chats()[0].title == "Explain how a lighthouse lens works"


def test_a_chat_that_writes_takes_no_second_message(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "A", 1))
    desk.ask("two")
    assert len(desk.engine.submits()) == 1
    assert desk.pane().composer.edit.toPlainText() == "two"


def test_escape_stops_the_reply_of_the_pane_in_use(desk, qtbot):
    request_id = desk.ask("one")
    qtbot.keyClick(desk.pane().composer.edit, Qt.Key.Key_Escape)
    assert desk.engine.sent[-1] == Cancel(request_id)


def test_escape_gives_up_a_new_title_and_stops_no_reply(desk, qtbot):
    desk.ask("Old title")
    header = desk.pane().header
    header.start_renaming()
    qtbot.keyClicks(QApplication.focusWidget(), "New title")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert header.title == "Old title"
    assert not any(isinstance(command, Cancel) for command in desk.engine.sent)


def test_a_new_title_is_taken_with_enter(desk, qtbot):
    desk.pane().header.start_renaming()
    qtbot.keyClicks(QApplication.focusWidget(), "New title")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert desk.pane().header.title == "New title"


def test_a_stopped_reply_keeps_its_words_and_says_so(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "Half", 1), finished(request_id, reason=FinishReason.CANCELLED))
    assert desk.pane().conversation.messages[-1].state is MessageState.STOPPED
    assert stored(desk)[-1].state is MessageState.STOPPED
    assert stored(desk)[-1].text == "Half"


def test_a_reply_that_another_model_ended_says_so_after_a_restart_too(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "Half", 1), finished(request_id, reason=FinishReason.REPLACED))
    conversation = desk.pane().conversation
    again = ShownMessage.of(stored(desk)[-1])
    lines = [line_of(conversation, message) for message in (conversation.messages[-1], again)]
    assert lines == ["Stopped: another model was loaded."] * 2


def test_a_reply_says_what_was_left_out_of_its_prompt(desk):
    request_id = desk.ask("one")
    dropped = TurnsDropped(request_id, 6, 900)
    desk.say(dropped, Started(request_id, 4, 0), delta(request_id, "A", 1), finished(request_id))
    assert [message.dropped for message in desk.pane().conversation.messages] == [None, dropped]


def test_the_end_of_the_context_is_kept_as_the_reason_of_the_end(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "A", 1), finished(request_id, reason=FinishReason.CONTEXT))
    assert stored(desk)[-1].end.reason is FinishReason.CONTEXT


def test_a_failed_reply_shows_cause_and_advice_and_the_chat_goes_on(desk):
    request_id = desk.ask("one")
    desk.say(Failed(request_id, "The message is too long.", "Shorten it."))
    assert stored(desk)[-1].error == "The message is too long.\nShorten it."
    desk.ask("two")
    assert [m.text for m in desk.engine.submits()[-1].messages] == ["two"]


def test_what_a_request_does_is_told_in_the_header(desk):
    request_id = desk.ask("one")
    seen = [desk.pane().header.mark.text]
    for event in (
        Waiting(request_id, 40, 12),
        Started(request_id, 4, 0),
        delta(request_id, "A", 1),
        finished(request_id),
    ):
        desk.say(event)
        seen.append(desk.pane().header.mark.text)
    assert seen == ["sent", "waiting", "reading", "writing", ""]


def test_the_meter_counts_the_tokens_of_the_context(desk):
    request_id = desk.ask("one")
    desk.say(Started(request_id, 40, 16), delta(request_id, "A", 1, 2, 3))
    assert desk.pane().meter.tokens_text() == "43 tokens"
    desk.say(finished(request_id, num_tokens=4))
    assert desk.pane().meter.tokens_text() == "44 tokens"
    assert desk.pane().meter.speed_text() == "72.0 tok/s, just now"


def test_a_reply_under_way_is_in_the_store_within_a_second(desk, qtbot):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "so far", 1))
    qtbot.waitUntil(lambda: stored(desk)[-1].text == "so far", timeout=1000)


def test_a_program_that_was_killed_finds_the_reply_again_as_stopped(desk):
    request_id = desk.ask("one")
    desk.say(delta(request_id, "so far", 1))
    desk.controller.flush()
    store = ChatStore(database_path())
    chat_id = desk.pane().conversation.chat_id
    assert [(m.text, m.state) for m in store.messages(chat_id)][-1] == ("so far", MessageState.STOPPED)
    store.close()


def test_the_engine_is_told_which_chat_has_the_focus(desk):
    desk.window.panes.focus(1)
    assert desk.engine.sent[-1] == SetFocus(desk.pane(1).conversation.chat_id)


def test_deleting_a_chat_stops_its_reply_and_frees_its_pane(desk):
    request_id = desk.ask("one")
    chat_id = desk.pane(0).conversation.chat_id
    desk.controller.delete(chat_id)
    desk.say(delta(request_id, "late", 1), finished(request_id))
    assert Cancel(request_id) in desk.engine.sent
    assert chat_id not in [chat.chat_id for chat in desk.controller.chats()]
    assert chat_id not in desk.window.panes.open_chats


def test_deleting_the_last_chat_leaves_a_fresh_one(desk):
    for chat in desk.controller.chats():
        desk.controller.delete(chat.chat_id)
    assert len(desk.window.panes.panes) == 1
    assert desk.pane().conversation.messages == []


def test_renaming_shows_everywhere(desk):
    desk.controller.rename(desk.pane().conversation.chat_id, "  Save  files ")
    assert desk.pane().header.title == "Save files"
    assert "Save files" in [row.title for row in desk.window.sidebar.rows()]


def test_a_message_of_100000_characters_is_sent_whole(desk):
    text = "word " * 20_000
    desk.ask(text)
    assert desk.engine.submits()[0].messages[-1].text == text
    assert len(desk.pane().header.title) < 60


def test_a_draft_stays_with_its_chat(desk):
    first = desk.pane(0).conversation.chat_id
    desk.pane(0).composer.edit.setPlainText("half a thought")
    desk.window.panes.focus(0)
    desk.window.panes.show_chat(desk.controller.new_chat())
    assert desk.pane(0).composer.edit.toPlainText() == ""
    desk.window.panes.show_chat(first)
    assert desk.pane(0).composer.edit.toPlainText() == "half a thought"


def test_a_disk_that_refuses_keeps_the_message_in_the_composer(desk, monkeypatch):
    def refuse(*_args, **_more):
        raise ChatStoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(desk.application.store, "add_message", refuse)
    desk.pane().composer.edit.setPlainText("precious")
    desk.pane().composer.edit.entered.emit()
    assert desk.pane().composer.edit.toPlainText() == "precious"
    assert desk.window.notice.isVisible()
    assert "The disk is full. Free some space." in desk.window.notice.text.text()


def test_a_full_disk_is_told_once_while_a_reply_comes_and_the_reply_is_saved_when_there_is_room(desk):
    told = []
    desk.controller.store_failed.connect(lambda cause, _advice: told.append(cause))
    request_id = desk.ask("one")
    connection = desk.application.store._connection
    connection.execute("PRAGMA max_page_count = 1")
    desk.say(delta(request_id, "word " * 5000, 1))
    for _ in range(3):
        desk.controller.flush()
    assert len(told) == 1
    assert "full" in told[0]
    connection.execute("PRAGMA max_page_count = 100000")
    desk.controller.flush()
    assert stored(desk)[-1].text == "word " * 5000


def test_saving_is_tried_less_and_less_often_while_another_program_holds_the_file_and_then_as_before(desk):
    request_id = desk.ask("one")
    timer = desk.controller._flush_timer
    with closing(sqlite3.connect(database_path(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        desk.say(delta(request_id, "word", 1))
        intervals = []
        for _ in range(5):
            desk.controller.flush()
            intervals.append(timer.interval())
    assert intervals == [1000, 2000, 4000, 4000, 4000]
    assert "another program has locked the file" in desk.window.notice.text.text()
    desk.controller.flush()
    assert timer.interval() == 500
    assert stored(desk)[-1].text == "word"


def test_a_full_disk_refuses_a_new_chat_with_a_sentence(desk, monkeypatch):
    def refuse(*_args):
        raise ChatStoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(desk.application.store, "create_chat", refuse)
    desk.window._split()
    assert "The disk is full. Free some space." in desk.window.notice.text.text()
    assert len(desk.window.panes.panes) == 2


def test_a_suggestion_that_is_asked_leaves_the_draft_alone(desk):
    desk.pane().composer.edit.setPlainText("half a thought")
    desk.pane().suggestions.chosen.emit("Name three things to see in Lisbon")
    assert desk.pane().composer.edit.toPlainText() == "half a thought"


def test_tags_in_a_title_are_shown_as_they_are(desk):
    desk.ask("<b>bold</b>")
    tool_tip = desk.window.chat_list.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert QTextDocumentFragment.fromHtml(tool_tip).toPlainText() == "<b>bold</b>"


def test_the_activity_of_a_chat_without_a_pane_is_seen_in_the_list(desk):
    request_id = desk.ask("two", 1)
    desk.window.panes.close_pane(desk.pane(1))
    desk.say(delta(request_id, "A", 1))
    row = next(row for row in desk.window.sidebar.rows() if row.title == "two")
    assert row.activity is Activity.WRITING
