"""The Tab key: through the window as one reads it, and one sees where it is."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication

from pagedesk.ui.style import apply_theme
from pagedesk.ui.theme import Scheme, Theme
from tests.helpers.fake_engine import finished, snapshot

_AROUND = 4


@pytest.fixture
def used_desk(desk):
    """Two chats that have a reply and a draft each, and blocks on the map; the keyboard is in the first composer."""
    for index in (0, 1):
        desk.say(finished(desk.ask("Hello", index)))
        desk.pane(index).composer.edit.setPlainText("draft")
    desk.say(snapshot(*desk.window.panes.open_chats))
    desk.window.panes.focus(0)
    QApplication.processEvents()
    return desk


def walk(qtbot, key=Qt.Key.Key_Tab) -> list:
    """Every widget that the key reaches, from the one with the focus to the one before it."""
    seen = []
    while (widget := QApplication.focusWidget()) not in seen:
        seen.append(widget)
        qtbot.keyClick(widget, key)
    assert widget is seen[0]
    return seen


def pane_stops(pane) -> list:
    return [
        pane.header.menu_button,
        pane.header.close_button,
        pane.transcript,
        pane.composer.edit,
        pane.composer.button,
    ]


def reading_order(desk) -> list:
    sidebar = desk.window.sidebar
    panes = [stop for pane in desk.window.panes.panes for stop in pane_stops(pane)]
    return [sidebar.search, sidebar.new_button, sidebar.list, *panes, desk.window.gauge.blocks.map]


def in_window_order(desk, stops: list) -> list:
    """The walk, begun at the sidebar and without the top bar."""
    first = stops.index(desk.window.sidebar.search)
    around = stops[first:] + stops[:first]
    return [stop for stop in around if not desk.window.top_bar.isAncestorOf(stop)]


def test_tab_goes_through_sidebar_panes_and_gauge_as_one_reads(used_desk, qtbot):
    assert in_window_order(used_desk, walk(qtbot)) == reading_order(used_desk)


def test_shift_tab_goes_the_same_way_back(used_desk, qtbot):
    stops = walk(qtbot, Qt.Key.Key_Backtab)
    assert in_window_order(used_desk, stops[::-1]) == reading_order(used_desk)


def test_panes_that_were_opened_and_closed_are_walked_left_to_right(used_desk, qtbot):
    used_desk.window._split()
    used_desk.say(finished(used_desk.ask("Hello", 1)))
    used_desk.pane(1).composer.edit.setPlainText("draft")
    used_desk.window.panes.close_pane(used_desk.pane(0))
    used_desk.window.panes.focus(0)
    assert in_window_order(used_desk, walk(qtbot)) == reading_order(used_desk)


def test_tab_in_an_empty_chat_goes_from_the_composer_to_the_suggestions(desk, qtbot):
    qtbot.keyClick(desk.pane().composer.edit, Qt.Key.Key_Tab)
    assert desk.pane().suggestions.isAncestorOf(QApplication.focusWidget())


def test_a_notice_is_reached_between_sidebar_and_panes(used_desk, qtbot):
    used_desk.window.show_problem("Not saved yet", "The disk is full.", "Free some space.")
    used_desk.window.sidebar.list.setFocus()
    qtbot.keyClick(used_desk.window.sidebar.list, Qt.Key.Key_Tab)
    assert used_desk.window.notice.isAncestorOf(QApplication.focusWidget())


def picture(desk, widget):
    around = QRect(widget.mapTo(desk.window, QPoint(0, 0)), widget.size())
    return desk.window.grab(around.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)).toImage()


@pytest.mark.parametrize("scheme", list(Scheme))
def test_every_stop_looks_different_while_it_has_the_keyboard(used_desk, qtbot, scheme):
    theme = Theme(scheme)
    apply_theme(QApplication.instance(), theme)
    used_desk.window.set_theme(theme)
    unmarked = []
    for _ in range(len(walk(qtbot))):
        stop = QApplication.focusWidget()
        with_focus = picture(used_desk, stop)
        qtbot.keyClick(stop, Qt.Key.Key_Tab)
        if picture(used_desk, stop) == with_focus:
            unmarked.append(stop)
    assert unmarked == []


def test_a_click_puts_no_ring_around_the_messages(used_desk, qtbot):
    transcript = used_desk.pane().transcript
    before = transcript.grab().toImage()
    qtbot.mousePress(transcript.viewport(), Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is transcript
    assert transcript.grab().toImage() == before


def test_a_suggestion_that_has_the_keyboard_can_give_way_to_another(desk, qtbot):
    pane = desk.pane(1)
    pane.focus_composer()
    qtbot.keyClick(pane.composer.edit, Qt.Key.Key_Tab)
    assert pane.suggestions.isAncestorOf(QApplication.focusWidget())
    before = {row.text for row in pane.suggestions._rows}
    desk.window.panes.close_pane(desk.pane(0))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert before.isdisjoint(row.text for row in pane.suggestions._rows)
