"""The window hears of a second start."""

import threading

import pytest

from pagedesk.system.single_instance import ask_for_window
from pagedesk.ui.second_start import SecondStart

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def watch(tmp_path):
    made = SecondStart(tmp_path)
    yield made
    made.end()


def test_a_second_start_is_noticed_and_answered(watch, qtbot, tmp_path):
    answers = []
    asking = threading.Thread(target=lambda: answers.append(ask_for_window(tmp_path, 30)))
    with qtbot.waitSignal(watch.noticed):
        asking.start()
    asking.join()
    assert answers == [True]


def test_a_request_from_before_the_watch_is_found(watch, qtbot, tmp_path):
    (tmp_path / "show-window").touch()
    with qtbot.waitSignal(watch.noticed):
        watch.look()


def test_other_files_of_the_folder_are_no_second_start(watch, tmp_path):
    noticed = []
    watch.noticed.connect(lambda: noticed.append(1))
    (tmp_path / "chats.sqlite3").touch()
    watch.look()
    assert noticed == []


@pytest.mark.qt_log_ignore("This plugin does not support raise")
def test_a_window_in_the_task_bar_comes_back(desk, qtbot):
    desk.window.showMinimized()
    desk.window.come_forward()
    qtbot.waitUntil(lambda: desk.window.isVisible() and not desk.window.isMinimized())
