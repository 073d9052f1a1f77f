"""The window as a whole: what it shows of the engine, its panes, its keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QToolButton

from pagedesk.protocol import EnginePhase, EngineStatus, LoadFailed, LoadModel, Stalled, Waiting
from pagedesk.ui.style import apply_theme
from pagedesk.ui.theme import Scheme, Theme
from tests.helpers.fake_engine import model_ready, snapshot

CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
FAILURE = LoadFailed("/models/large.gguf", "It needs 17.2 GB and the budget is 8.3 GB.", "Choose a smaller one.")


def press(qtbot, desk, key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.keyClick(QApplication.focusWidget() or desk.window, key, modifiers)


def test_the_first_start_opens_two_panes_and_the_caret_is_in_the_first(desk):
    assert len(desk.window.panes.panes) == 2
    assert QApplication.focusWidget() is desk.pane(0).composer.edit


def test_an_empty_chat_says_what_the_model_does(desk):
    starter = desk.application.state.starter
    seen = [desk.pane().heading.title.text()]
    desk.say(model_ready(str(starter)), EngineStatus(EnginePhase.READY))
    seen.append(desk.pane().heading.title.text())
    desk.fail_to_load(FAILURE)
    seen.append(desk.pane().heading.title.text())
    assert seen == [
        "Starter model is loading: you can ask already",
        "Starter model is ready: ask something",
        "No model is loaded",
    ]


def test_a_suggestion_is_asked_at_once(desk):
    desk.pane().suggestions.chosen.emit("Explain how a lighthouse lens works")
    assert desk.engine.submits()[0].messages[0].text == "Explain how a lighthouse lens works"
    assert not desk.pane().suggestions.isVisible()


def test_one_can_ask_while_the_model_loads(desk):
    desk.say(EngineStatus(EnginePhase.LOADING, "weights", 43, 100))
    desk.ask("early")
    assert isinstance(desk.engine.sent[0], LoadModel)
    assert desk.engine.submits()[0].messages[0].text == "early"


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (EngineStatus(EnginePhase.STARTING), "Starting the engine"),
        (EngineStatus(EnginePhase.LOADING, "weights", 43, 100), "Loading weights 43 %"),
        (EngineStatus(EnginePhase.LOADING, "something new"), "Loading the model"),
        (EngineStatus(EnginePhase.READY), "Ready"),
        (EngineStatus(EnginePhase.EMPTY), "Loading the model"),
        (EngineStatus(EnginePhase.STOPPED), "The engine has ended"),
    ],
)
def test_the_status_line_says_what_the_engine_does(desk, status, text):
    desk.say(status)
    assert desk.window.status.texts[0] == text


def test_the_status_line_says_that_no_model_is_loaded_only_when_none_is_on_its_way(desk):
    desk.fail_to_load(FAILURE)
    assert desk.window.status.texts == ["No model loaded"]


def test_the_status_line_shows_the_counters_of_the_newest_snapshot(desk):
    desk.say(EngineStatus(EnginePhase.READY), snapshot("a", "b", num_waiting=1))
    assert desk.window.status.texts == ["Ready", "2 chats running, 1 waits", "Step 12.8 ms", "Cache hits 91 %"]


def test_an_engine_that_does_not_answer_is_told_until_it_does(desk):
    desk.say(model_ready(), EngineStatus(EnginePhase.READY), Stalled(34))
    assert desk.window.status.texts[0] == "The engine has not answered for 34 s"
    assert desk.window.notice.title.text() == "The engine does not answer"
    desk.say(Stalled(39))
    assert desk.window.status.texts[0] == "The engine has not answered for 39 s"
    desk.say(Stalled(None))
    assert desk.window.status.texts[0] == "Ready"
    assert not desk.window.notice.isVisible()


def test_a_stall_that_was_read_about_is_not_told_again_while_it_lasts(desk):
    desk.say(Stalled(30))
    desk.window.notice.close_button.click()
    desk.say(Stalled(35))
    assert not desk.window.notice.isVisible()


def test_a_stall_leaves_the_pool_and_the_chats_on_show(desk):
    desk.say(EngineStatus(EnginePhase.READY), snapshot("a", "b"), Stalled(30))
    assert 20 in desk.window.gauge.figures().values()


def test_a_snapshot_reaches_the_gauge(desk):
    desk.say(snapshot("a", "b"))
    assert 20 in desk.window.gauge.figures().values()


@pytest.mark.parametrize("phase", [EnginePhase.LOADING, EnginePhase.EMPTY])
def test_the_gauge_shows_no_number_of_a_model_that_was_given_up(desk, phase):
    blank = desk.window.gauge.figures()
    desk.say(EngineStatus(EnginePhase.READY), snapshot("a", "b"))
    desk.say(EngineStatus(phase))
    assert desk.window.gauge.figures() == blank == {}
    desk.say(EngineStatus(EnginePhase.READY), snapshot("a"))
    assert desk.window.gauge.figures()["num_owned"] == 10


def test_a_notice_about_the_chats_outlives_what_the_engine_says(desk):
    desk.window.show_problem("Not saved yet", "The disk is full.", "Free some space.")
    desk.say(EngineStatus(EnginePhase.LOADING, "weights", 1, 2), model_ready(), EngineStatus(EnginePhase.READY))
    assert desk.window.notice.isVisible()


def test_a_notice_about_a_failed_load_goes_when_another_model_loads(desk):
    desk.fail_to_load(FAILURE)
    desk.say(EngineStatus(EnginePhase.LOADING))
    assert not desk.window.notice.isVisible()


def test_the_picker_names_the_model(desk):
    desk.say(model_ready())
    assert desk.window.top_bar.picker.accessibleName() == "Model: Small 1B Q4_1 98 MB"


def test_another_model_is_asked_for_by_the_picker(desk):
    desk.choose("/models/other.gguf")
    assert desk.engine.sent[-1] == LoadModel("/models/other.gguf")


def picker_text(desk) -> str:
    return desk.window.top_bar.picker.accessibleName()


def test_the_picker_names_the_model_that_was_chosen_just_as_another_failed(desk):
    desk.choose(FAILURE.path)
    desk.choose("/models/other.gguf")
    seen = []
    for event in (FAILURE, EngineStatus(EnginePhase.EMPTY), EngineStatus(EnginePhase.LOADING, "weights", 1, 2)):
        desk.say(event)
        seen.append((picker_text(desk), desk.window.notice.isVisible()))
    assert seen == [("Model: other loading", False)] * 3


def test_the_picker_names_the_model_that_was_chosen_just_as_another_was_ready(desk):
    desk.choose("/models/small.gguf")
    desk.choose("/models/other.gguf")
    desk.say(model_ready(), EngineStatus(EnginePhase.READY), EngineStatus(EnginePhase.LOADING, "weights", 1, 2))
    assert picker_text(desk) == "Model: other loading"


def test_a_model_that_is_chosen_again_just_as_it_failed_is_loading(desk):
    desk.choose(FAILURE.path)
    desk.choose(FAILURE.path)
    desk.say(FAILURE, EngineStatus(EnginePhase.EMPTY), EngineStatus(EnginePhase.LOADING, "weights", 1, 2))
    assert picker_text(desk) == "Model: large loading"
    assert not desk.window.notice.isVisible()


def test_a_load_that_failed_says_why_and_the_chats_stay(desk):
    desk.ask("kept")
    desk.fail_to_load(FAILURE)
    assert desk.window.notice.isVisible()
    assert desk.window.notice.title.text() == "large.gguf did not load"
    assert desk.window.notice.text.text() == "It needs 17.2 GB and the budget is 8.3 GB. Choose a smaller one."
    assert desk.pane().conversation.messages[0].text == "kept"
    desk.window.notice.close_button.click()
    assert not desk.window.notice.isVisible()


def test_a_file_that_is_no_model_leaves_the_last_one_in_the_picker(desk):
    desk.say(model_ready(), EngineStatus(EnginePhase.READY), snapshot("a"))
    desk.choose("/etc/passwd")
    assert picker_text(desk) == "Model: passwd loading"
    failure = LoadFailed("/etc/passwd", "It is text.", "Choose another.", keeps_model=True)
    desk.say(failure, EngineStatus(EnginePhase.READY))
    assert picker_text(desk) == "Model: Small 1B Q4_1 98 MB"
    assert desk.window.notice.isVisible()
    assert desk.window.gauge.figures()["num_owned"] == 10


def test_a_very_long_file_name_does_not_widen_the_window(desk):
    path = Path(f"/models/{'x' * 240}.gguf")
    desk.fail_to_load(LoadFailed(str(path), f"{path} is gone.", "Choose another."))
    QApplication.processEvents()
    assert desk.window.notice.minimumSizeHint().width() < 720


def test_the_window_opens_no_larger_than_the_screen(open_desk):
    desk = open_desk(size=None)
    window, screen = desk.window.size(), desk.window.screen().availableGeometry().size()
    assert window == window.boundedTo(screen)


def test_a_notice_shows_tags_of_a_file_name_as_text(desk):
    desk.fail_to_load(LoadFailed("/models/<b>x</b>.gguf", "<i>no</i>", "Stop."))
    assert desk.window.notice.text.textFormat() is Qt.TextFormat.PlainText
    assert desk.window.notice.title.textFormat() is Qt.TextFormat.PlainText


def test_control_n_makes_a_fresh_chat_in_the_pane_in_use(desk, qtbot):
    desk.ask("one")
    press(qtbot, desk, Qt.Key.Key_N, CONTROL)
    assert len(desk.window.panes.panes) == 2
    assert desk.pane(0).conversation.messages == []
    assert len(desk.controller.chats()) == 3


def test_control_n_in_a_blank_chat_makes_no_second_one(desk, qtbot):
    press(qtbot, desk, Qt.Key.Key_N, CONTROL)
    assert len(desk.controller.chats()) == 2


def test_control_backslash_opens_a_pane_beside_the_one_in_use(desk, qtbot):
    first, second = desk.window.panes.panes
    press(qtbot, desk, Qt.Key.Key_Backslash, CONTROL)
    assert [desk.pane(0), desk.pane(2)] == [first, second]
    assert QApplication.focusWidget() is desk.pane(1).composer.edit
    assert first.x() < desk.pane(1).x() < second.x()


def test_control_w_closes_panes_but_never_the_last(desk, qtbot):
    for _ in range(3):
        press(qtbot, desk, Qt.Key.Key_W, CONTROL)
    assert len(desk.window.panes.panes) == 1


def test_closing_a_pane_with_a_blank_chat_leaves_no_row(desk):
    desk.window.panes.close_pane(desk.pane(1))
    assert len(desk.controller.chats()) == 1


@pytest.mark.parametrize(("key", "part"), [(Qt.Key.Key_B, "sidebar"), (Qt.Key.Key_M, "gauge")])
def test_a_key_folds_a_side_and_brings_it_back(desk, qtbot, key, part):
    seen = []
    for _ in range(2):
        press(qtbot, desk, key, CONTROL)
        seen.append(getattr(desk.window, part).isVisible())
    assert seen == [False, True]


def test_alt_and_a_digit_go_to_a_pane(desk, qtbot):
    press(qtbot, desk, Qt.Key.Key_2, ALT)
    assert QApplication.focusWidget() is desk.pane(1).composer.edit
    press(qtbot, desk, Qt.Key.Key_9, ALT)
    assert QApplication.focusWidget() is desk.pane(1).composer.edit


def test_f6_goes_around_the_parts_of_the_window(desk, qtbot):
    press(qtbot, desk, Qt.Key.Key_F6)
    press(qtbot, desk, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is desk.window.sidebar.list
    press(qtbot, desk, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is desk.pane(0).composer.edit


def test_control_k_searches_by_title(desk, qtbot):
    desk.ask("Lighthouse lens", 0)
    desk.ask("Save files", 1)
    press(qtbot, desk, Qt.Key.Key_K, CONTROL)
    qtbot.keyClicks(desk.window.sidebar.search, "light")
    assert [row.title for row in desk.window.sidebar.rows()] == ["Lighthouse lens"]
    press(qtbot, desk, Qt.Key.Key_Return)
    assert desk.window.panes.focused is desk.pane(0)


def test_a_row_of_the_list_tells_that_its_chat_waits(desk):
    request_id = desk.ask("one")
    desk.say(Waiting(request_id, 40, 12))
    row = next(row for row in desk.window.sidebar.rows() if row.title == "one")
    assert row.state_text == "waiting"


def test_a_chat_with_blocks_is_told_apart_in_the_list(desk):
    chat_id = desk.pane().conversation.chat_id
    desk.say(snapshot(chat_id))
    assert {row.chat_id for row in desk.window.sidebar.rows() if row.has_blocks} == {chat_id}


def test_every_button_without_a_word_has_a_name_for_screen_readers(desk):
    buttons = desk.window.findChildren(QToolButton)
    own = [button for button in buttons if button.objectName() and not button.objectName().startswith("qt_")]
    assert len(own) > 6
    assert [button.objectName() for button in own if not button.accessibleName()] == []


def test_the_colours_change_while_it_runs(desk, qtbot):
    before = desk.window.grab().toImage().pixelColor(600, 300)
    light = Theme(Scheme.LIGHT)
    apply_theme(QApplication.instance(), light)
    desk.window.set_theme(light)
    qtbot.waitUntil(lambda: desk.window.grab().toImage().pixelColor(600, 300) != before)
