"""The search field of the sidebar."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from pagedesk.protocol import Cancel


@pytest.fixture
def searching(desk, qtbot):
    """Two chats, one of which writes; the keyboard is in the search field."""
    desk.ask("Lighthouse lens", 0)
    desk.ask("Save files", 1)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    return desk


def titles(desk) -> list[str]:
    return [row.title for row in desk.window.sidebar.rows()]


def test_a_search_without_a_hit_says_so(searching, qtbot):
    sidebar = searching.window.sidebar
    qtbot.keyClicks(sidebar.search, "zebra")
    assert sidebar.nothing.isVisible()
    assert sidebar.nothing.text() == "No chat has \u201czebra\u201d in its title."
    searching.controller.rename(searching.pane(0).conversation.chat_id, "Zebra")
    assert not sidebar.nothing.isVisible()


def test_escape_clears_the_search_and_stops_no_reply(searching, qtbot):
    qtbot.keyClicks(searching.window.sidebar.search, "zebra")
    qtbot.keyClick(searching.window.sidebar.search, Qt.Key.Key_Escape)
    assert searching.window.sidebar.search.text() == ""
    assert len(titles(searching)) == 2
    assert not searching.window.sidebar.nothing.isVisible()
    assert not any(isinstance(command, Cancel) for command in searching.engine.sent)


def test_escape_in_an_empty_search_leads_back_to_the_composer_and_stops_no_reply(searching, qtbot):
    qtbot.keyClick(searching.window.sidebar.search, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is searching.window.panes.focused.composer.edit
    assert not any(isinstance(command, Cancel) for command in searching.engine.sent)


def test_after_enter_all_chats_are_listed_again(searching, qtbot):
    qtbot.keyClicks(searching.window.sidebar.search, "light")
    qtbot.keyClick(searching.window.sidebar.search, Qt.Key.Key_Return)
    assert searching.window.sidebar.search.text() == ""
    assert len(titles(searching)) == 2
    assert searching.window.panes.focused is searching.pane(0)


def test_enter_without_a_hit_keeps_what_was_searched(searching, qtbot):
    qtbot.keyClicks(searching.window.sidebar.search, "zebra")
    qtbot.keyClick(searching.window.sidebar.search, Qt.Key.Key_Return)
    assert searching.window.sidebar.search.text() == "zebra"
