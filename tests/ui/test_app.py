"""The program from its start to its end."""

import functools

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMessageBox

from pagedesk import app
from pagedesk.chats.errors import ChatStoreError
from pagedesk.chats.models import MessageState
from pagedesk.chats.store import ChatStore
from pagedesk.protocol import LoadModel, Shutdown, TextDelta
from pagedesk.system.paths import database_path
from pagedesk.ui.options import WindowOptions
from pagedesk.ui.startup_report import LAUNCHED_AT_VARIABLE, StartupReport
from tests.helpers.fake_engine import StreamingEngine

STREAMING = functools.partial(StreamingEngine, words="lorem ipsum dolor " * 5000)


def test_the_engine_starts_after_the_window_was_painted(desk, qtbot):
    qtbot.waitUntil(lambda: desk.engine.is_alive)
    assert desk.window._was_painted


def test_the_starter_model_is_asked_for_first(desk):
    assert desk.engine.sent[0] == LoadModel(str(desk.application.state.starter))


def test_chats_and_panes_come_back_at_the_next_start(open_desk):
    first = open_desk()
    request_id = first.ask("one", 0)
    first.say(TextDelta(request_id, 0, "Answer", (1,)))
    first.window._split()
    first.ask("three", 2)
    panes = first.window.panes.open_chats
    first.application.close()
    second = open_desk()
    assert second.window.panes.open_chats == panes
    assert [m.text for m in second.pane(0).conversation.messages] == ["one", "Answer"]
    assert second.pane(2).header.title == "three"


def test_damaged_chats_are_moved_aside_and_the_user_is_told_where(open_desk):
    open_desk().application.close()
    database_path().write_bytes(b"not a database" * 100)
    desk = open_desk()
    assert desk.window.notice.isVisible()
    assert ".damaged-" in desk.window.notice.text.text()


@pytest.mark.usefixtures("desk")
def test_a_second_program_on_the_same_chats_says_so_and_ends_if_the_first_does_not_answer(monkeypatch, capsys):
    monkeypatch.setattr(app, "ANSWER_TIMEOUT_S", 0)
    shown = []
    monkeypatch.setattr(QMessageBox, "critical", lambda _parent, _title, text: shown.append(text))
    assert app.main(WindowOptions()) == 1
    assert "open already" in shown[0]
    assert shown[0] in capsys.readouterr().err


def test_chats_can_be_read_when_the_disk_is_full(open_desk, monkeypatch):
    first = open_desk()
    first.ask("kept")
    first.application.close()
    monkeypatch.setattr(ChatStore, "set_open_panes", refuse)
    monkeypatch.setattr(ChatStore, "create_chat", refuse)
    desk = open_desk()
    assert desk.pane().conversation.messages[0].text == "kept"


def refuse(*_arguments):
    raise ChatStoreError("The disk is full.", "Free some space.")


@pytest.mark.usefixtures("qapp")
def test_a_start_that_is_impossible_says_why_in_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PAGEDESK_HOME", str(tmp_path / "file"))
    shown = []
    monkeypatch.setattr(QMessageBox, "critical", lambda _parent, _title, text: shown.append(text))
    assert app.main(WindowOptions()) == 1
    assert shown[0] in capsys.readouterr().err
    assert "PAGEDESK_HOME" in shown[0]


def test_open_panes_are_remembered_without_a_proper_end(desk):
    desk.window._split()
    store = ChatStore(database_path())
    assert store.open_panes() == desk.window.panes.open_chats
    store.close()


def test_closing_while_two_chats_stream_saves_both_and_ends_the_engine(open_desk, qtbot):
    desk = open_desk(STREAMING)
    for index in (0, 1):
        desk.pane(index).asked.emit(f"question {index}")
    replies = [desk.pane(index).conversation.messages[-1] for index in (0, 1)]
    qtbot.waitUntil(lambda: all(len(reply.token_ids) > 10 for reply in replies))
    chat_ids = desk.window.panes.open_chats
    desk.window.close()
    desk.application.close()
    assert desk.application.has_ended
    assert not desk.engine.is_alive
    store = ChatStore(database_path())
    saved = [store.messages(chat_id)[-1] for chat_id in chat_ids]
    assert [(m.text, m.state) for m in saved] == [(reply.text, MessageState.STOPPED) for reply in replies]
    store.close()


def test_two_chats_stream_at_the_same_time(open_desk, qtbot):
    desk = open_desk(STREAMING)
    for index in (0, 1):
        desk.pane(index).asked.emit("go")
    first, second = (desk.pane(index).conversation.messages[-1] for index in (0, 1))
    qtbot.waitUntil(lambda: len(first.token_ids) > 5 and len(second.token_ids) > 5)
    lengths = len(first.token_ids), len(second.token_ids)
    qtbot.waitUntil(lambda: len(first.token_ids) > lengths[0] and len(second.token_ids) > lengths[1])


def test_the_end_of_the_program_tells_the_engine(desk, qtbot):
    qtbot.waitUntil(lambda: desk.engine.is_alive)
    desk.application.close()
    assert desk.engine.sent[-1] == Shutdown()


def test_the_window_runs_until_it_is_closed(open_desk):
    desk = open_desk()
    desk.window.painted.connect(lambda: QTimer.singleShot(0, desk.window.close))
    desk.window._was_painted = False
    desk.window.update()
    desk.application.run()
    assert not desk.window.isVisible()


def test_the_report_counts_from_the_launch_that_the_launcher_told(monkeypatch, capsys):
    monkeypatch.setenv(LAUNCHED_AT_VARIABLE, "0")
    StartupReport().note("first paint")
    what, seconds = capsys.readouterr().out.strip().split(": ")
    assert what == "first paint"
    assert float(seconds.removesuffix(" s")) > 1_000_000_000


@pytest.mark.parametrize("value", [None, "nonsense"])
def test_the_report_counts_from_the_start_of_the_process_otherwise(monkeypatch, capsys, value):
    if value is None:
        monkeypatch.delenv(LAUNCHED_AT_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(LAUNCHED_AT_VARIABLE, value)
    StartupReport().note("first paint")
    assert float(capsys.readouterr().out.split()[2]) < 100_000
