"""The smallest window: whatever else there is to show, the composers stay whole."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication

from pagedesk.protocol import LoadFailed
from pagedesk.ui.theme import tokens

CAUSE = f"The file /models/{'long-name-' * 60}.gguf is damaged: its last tensor would reach beyond its end."
FAILURE = LoadFailed("/models/large.gguf", CAUSE, "Download it again.")
DRAFTS = {"a blank draft": "", "a tall draft": "line\n" * 40}


@pytest.fixture
def low_desk(open_desk, qtbot):
    """A window of 720 x 480 with two empty chats."""
    desk = open_desk(size=tuple(tokens()["size"]["window_min"]))
    qtbot.waitUntil(lambda: desk.window.height() == 480)
    return desk


def place(desk, widget) -> QRect:
    return QRect(widget.mapTo(desk.window, QPoint(0, 0)), widget.size())


def is_whole(desk, pane) -> bool:
    """Whether all of a composer can be seen: inside its pane, above the status line, nothing of it squeezed."""
    composer = pane.composer
    room = place(desk, pane)
    room.setBottom(min(room.bottom(), place(desk, desk.window.status).top() - 1))
    parts_fit = all(composer.rect().contains(part.geometry()) for part in (composer.edit, composer.button))
    is_inside = room.contains(place(desk, composer))
    return is_inside and parts_fit and composer.height() >= composer.least_height and composer.edit.height() >= 22


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS.keys())
@pytest.mark.parametrize("num_talks", [0, 1, 2])
def test_a_tall_notice_leaves_the_composers_whole(low_desk, qtbot, num_talks, draft):
    for index in range(num_talks):
        low_desk.ask("Hello", index)
    low_desk.pane(0).composer.edit.setPlainText(draft)
    low_desk.fail_to_load(FAILURE)
    qtbot.waitUntil(lambda: all(is_whole(low_desk, pane) for pane in low_desk.window.panes.panes), timeout=1000)


def test_a_notice_without_room_scrolls_and_keeps_its_buttons_in_sight(low_desk, qtbot):
    low_desk.ask("Hello")
    low_desk.fail_to_load(FAILURE)
    notice = low_desk.window.notice
    qtbot.waitUntil(lambda: notice.words.verticalScrollBar().maximum() > 0, timeout=1000)
    for button in (notice.starter_button, notice.open_button, notice.close_button):
        assert place(low_desk, notice).contains(place(low_desk, button))
    assert place(low_desk, notice).bottom() < place(low_desk, low_desk.pane()).top()


def test_a_notice_without_room_is_read_with_the_keys(low_desk, qtbot):
    low_desk.ask("Hello")
    low_desk.fail_to_load(FAILURE)
    words = low_desk.window.notice.words
    qtbot.waitUntil(lambda: words.verticalScrollBar().maximum() > 0, timeout=1000)
    low_desk.window.notice.starter_button.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is words
    qtbot.keyClick(words, Qt.Key.Key_PageDown)
    assert words.verticalScrollBar().value() > 0


def test_a_notice_with_room_does_not_scroll(desk, qtbot):
    desk.fail_to_load(FAILURE)
    QApplication.processEvents()
    words = desk.window.notice.words
    qtbot.waitUntil(lambda: words.height() >= words.heightForWidth(words.width()), timeout=1000)
    assert words.verticalScrollBar().maximum() == 0


def test_the_welcome_gives_way_and_comes_back(low_desk, qtbot):
    pane = low_desk.pane()
    low_desk.fail_to_load(FAILURE)
    qtbot.waitUntil(lambda: not pane.heading.isVisible() and not pane.suggestions.isVisible(), timeout=1000)
    low_desk.window.notice.close_button.click()
    qtbot.waitUntil(lambda: pane.heading.isVisible() and pane.suggestions.isVisible(), timeout=1000)


def test_a_tall_draft_gets_its_height_back_after_the_notice(low_desk, qtbot):
    low_desk.window.setMinimumHeight(0)
    low_desk.window.resize(720, 440)
    composer = low_desk.pane().composer
    composer.edit.setPlainText(DRAFTS["a tall draft"])
    qtbot.waitUntil(lambda: composer.height() == composer.wanted_height, timeout=1000)
    low_desk.fail_to_load(FAILURE)
    qtbot.waitUntil(lambda: composer.height() < composer.wanted_height, timeout=1000)
    low_desk.window.notice.close_button.click()
    qtbot.waitUntil(lambda: composer.height() == composer.wanted_height, timeout=1000)
