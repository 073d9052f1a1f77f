"""Another model while replies are being written: asked once, and nothing ends before the answer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from pagedesk.protocol import EnginePhase, EngineStatus, LoadModel
from pagedesk.ui.switch_dialog import SwitchDialog
from tests.helpers.fake_engine import finished, model_ready

OTHER = "/models/other.gguf"


def dialogs(desk) -> list[SwitchDialog]:
    return [dialog for dialog in desk.window.findChildren(SwitchDialog) if dialog.isVisible()]


def has_asked_for_other(desk) -> bool:
    return any(isinstance(sent, LoadModel) and sent.path == OTHER for sent in desk.engine.sent)


@pytest.fixture
def writing_desk(desk):
    """A model is loaded and a reply under way."""
    desk.say(model_ready(), EngineStatus(EnginePhase.READY))
    desk.ask("one")
    return desk


@pytest.fixture
def dialog(writing_desk, qtbot) -> SwitchDialog:
    writing_desk.choose(OTHER)
    [dialog] = dialogs(writing_desk)
    qtbot.waitUntil(dialog.keep_button.hasFocus)
    return dialog


def test_the_question_names_the_model_and_counts_the_replies(dialog):
    text = dialog.question.text().replace("\u200b", "")
    assert text == "Replies being written: 1. They end when other.gguf is loaded; what was written is kept."


def test_nothing_is_loaded_before_the_answer(dialog, writing_desk):
    assert dialog.isVisible()
    assert not has_asked_for_other(writing_desk)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_enter_and_escape_keep_writing(dialog, writing_desk, qtbot, key):
    qtbot.keyClick(dialog.keep_button, key)
    assert not dialogs(writing_desk)
    assert not has_asked_for_other(writing_desk)


def test_the_switch_is_a_tab_and_a_key_away(dialog, writing_desk, qtbot):
    qtbot.keyClick(dialog.keep_button, Qt.Key.Key_Tab)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert has_asked_for_other(writing_desk)


def test_without_a_reply_under_way_nothing_is_asked(desk):
    desk.say(model_ready(), EngineStatus(EnginePhase.READY))
    desk.say(finished(desk.ask("one")))
    desk.choose(OTHER)
    assert has_asked_for_other(desk)


def test_while_a_model_loads_another_ends_no_reply_and_nothing_is_asked(desk):
    desk.ask("one")
    desk.choose(OTHER)
    assert has_asked_for_other(desk)
