"""A window without room for everything: nothing is out of reach, and the buttons tell what can be seen."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QToolButton

from tests.helpers.fake_engine import snapshot

LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier
ESCAPE = Qt.Key.Key_Escape


@pytest.fixture
def narrow_desk(open_desk):
    """720 x 480 with two panes: neither side has room."""
    return open_desk(size=(720, 480))


def button_of(desk, action) -> QToolButton:
    return next(each for each in desk.window.top_bar.findChildren(QToolButton) if each.defaultAction() is action)


def sidebar_button(desk) -> QToolButton:
    return button_of(desk, desk.window.actions_.sidebar)


def gauge_button(desk) -> QToolButton:
    return button_of(desk, desk.window.actions_.gauge)


def place(desk, widget) -> QRect:
    return QRect(widget.mapTo(desk.window, QPoint(0, 0)), widget.size())


def is_on_top(desk, widget) -> bool:
    """Whether the middle of a widget can be seen and clicked."""
    found = desk.window.childAt(place(desk, widget).center())
    return widget.isVisible() and (found is widget or widget.isAncestorOf(found))


def open_more(desk, number: int) -> None:
    for _ in range(number):
        desk.window._split()
    QApplication.processEvents()


def shown_panes(desk) -> list:
    return [pane for pane in desk.window.panes.panes if pane.isVisible()]


def test_without_room_for_names_the_chats_are_a_rail_of_chips(narrow_desk, qtbot):
    rail = narrow_desk.window.rail
    assert rail.isVisible()
    assert rail.width() == 52
    for pane in narrow_desk.window.panes.panes:
        assert not place(narrow_desk, pane).intersects(place(narrow_desk, rail))
    narrow_desk.ask("one")
    other = narrow_desk.controller.new_chat()
    rows = [row.chat_id for row in narrow_desk.window.chat_list.rows]
    index = narrow_desk.window.chat_list.index(rows.index(other))
    qtbot.mouseClick(rail.list.viewport(), LEFT, pos=rail.list.visualRect(index).center())
    assert narrow_desk.pane(0).conversation.chat_id == other


def test_the_button_opens_the_list_over_the_panes_and_closes_it(narrow_desk, qtbot):
    sidebar = narrow_desk.window.sidebar
    qtbot.mouseClick(sidebar_button(narrow_desk), LEFT)
    assert is_on_top(narrow_desk, sidebar.list)
    assert sidebar_button(narrow_desk).isChecked()
    qtbot.mouseClick(sidebar_button(narrow_desk), LEFT)
    assert not sidebar.isVisible()
    assert not sidebar_button(narrow_desk).isChecked()


def test_the_button_opens_the_gauge_over_the_panes_and_closes_it(narrow_desk, qtbot):
    narrow_desk.say(snapshot("a"))
    gauge = narrow_desk.window.gauge
    qtbot.mouseClick(gauge_button(narrow_desk), LEFT)
    assert is_on_top(narrow_desk, gauge.blocks.map)
    assert gauge_button(narrow_desk).isChecked()
    qtbot.mouseClick(gauge_button(narrow_desk), LEFT)
    assert not gauge.isVisible()
    assert not gauge_button(narrow_desk).isChecked()


@pytest.mark.parametrize("size", [(720, 480), (1600, 1000)])
def test_the_buttons_tell_what_can_be_seen(open_desk, qtbot, size):
    desk = open_desk(size=size)
    open_more(desk, 4)
    for number in range(6):
        button, part = [(sidebar_button, "sidebar"), (gauge_button, "gauge")][number % 2]
        before = getattr(desk.window, part).isVisible()
        qtbot.mouseClick(button(desk), LEFT)
        is_visible = getattr(desk.window, part).isVisible()
        assert (is_visible, button(desk).isChecked()) == (not before, not before)


def test_the_list_over_the_panes_goes_when_a_chat_is_chosen(narrow_desk, qtbot):
    narrow_desk.ask("one")
    other = narrow_desk.controller.new_chat()
    qtbot.mouseClick(sidebar_button(narrow_desk), LEFT)
    sidebar = narrow_desk.window.sidebar
    row = [row.chat_id for row in sidebar.rows()].index(other)
    place_of_row = sidebar.list.visualRect(sidebar.list.model().index(row, 0)).center()
    qtbot.mouseClick(sidebar.list.viewport(), LEFT, pos=place_of_row)
    assert not sidebar.isVisible()
    assert QApplication.focusWidget() is narrow_desk.pane(0).composer.edit
    assert narrow_desk.pane(0).conversation.chat_id == other


@pytest.mark.parametrize("button", [sidebar_button, gauge_button])
def test_escape_takes_what_lies_over_the_panes_away_and_stops_no_reply(narrow_desk, qtbot, button):
    narrow_desk.ask("one")
    num_sent = len(narrow_desk.engine.sent)
    qtbot.mouseClick(button(narrow_desk), LEFT)
    qtbot.keyClick(QApplication.focusWidget(), ESCAPE)
    assert not narrow_desk.window.sidebar.isVisible()
    assert not narrow_desk.window.gauge.isVisible()
    assert len(narrow_desk.engine.sent) == num_sent
    assert QApplication.focusWidget() is narrow_desk.pane(0).composer.edit


def test_a_click_in_a_pane_takes_the_list_away(narrow_desk, qtbot):
    qtbot.mouseClick(sidebar_button(narrow_desk), LEFT)
    qtbot.mouseClick(narrow_desk.pane(1).heading, LEFT)
    assert not narrow_desk.window.sidebar.isVisible()


def test_control_k_searches_in_a_narrow_window_too(narrow_desk, qtbot):
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_K, CONTROL)
    assert is_on_top(narrow_desk, narrow_desk.window.sidebar.search)
    assert QApplication.focusWidget() is narrow_desk.window.sidebar.search


def test_both_sides_come_back_where_they_were_with_the_width(narrow_desk, qtbot):
    for button in (sidebar_button, gauge_button):
        qtbot.mouseClick(button(narrow_desk), LEFT)
    window = narrow_desk.window
    window.resize(1600, 600)
    qtbot.waitUntil(lambda: place(narrow_desk, window.sidebar).right() < place(narrow_desk, window.panes).left())
    qtbot.waitUntil(lambda: place(narrow_desk, window.panes).right() < place(narrow_desk, window.gauge).left())
    assert 180 <= window.sidebar.width() <= 320
    assert 268 <= window.gauge.width() <= 400
    assert not window.rail.isVisible()


def test_panes_that_do_not_fit_take_turns_behind_tabs(narrow_desk):
    open_more(narrow_desk, 2)
    assert len(shown_panes(narrow_desk)) == 2
    assert all(pane.width() >= 300 for pane in shown_panes(narrow_desk))
    assert narrow_desk.window.tabs.isVisible()
    assert narrow_desk.window.tabs.bar.count() == 4


@pytest.mark.parametrize("index", range(4))
def test_a_tab_leads_to_its_pane(narrow_desk, qtbot, index):
    open_more(narrow_desk, 2)
    bar = narrow_desk.window.tabs.bar
    qtbot.mouseClick(bar, LEFT, pos=bar.tabRect(index).center())
    pane = narrow_desk.pane(index)
    assert pane.isVisible()
    assert QApplication.focusWidget() is pane.composer.edit
    assert narrow_desk.window.panes.focused is pane
    assert bar.currentIndex() == index
    assert all(shown.width() >= 300 for shown in shown_panes(narrow_desk))


def test_the_pane_in_use_stays_in_sight_while_the_window_is_made_narrower(desk, qtbot):
    open_more(desk, 3)
    desk.window.panes.focus(4)
    pane = desk.pane(4)
    for width in (1400, 1100, 900, 720):
        desk.window.resize(width, 600)
        qtbot.waitUntil(lambda: place(desk, desk.window.panes).contains(place(desk, pane)), timeout=1000)
        assert QApplication.focusWidget() is pane.composer.edit
        assert all(shown.width() >= 300 for shown in shown_panes(desk))


def test_all_panes_come_back_with_the_width(desk, qtbot):
    open_more(desk, 1)
    desk.window.resize(720, 600)
    qtbot.waitUntil(lambda: len(shown_panes(desk)) == 2)
    desk.window.resize(1600, 600)
    qtbot.waitUntil(lambda: len(shown_panes(desk)) == 3)
    assert not desk.window.tabs.isVisible()


def test_a_tab_has_the_name_of_its_chat(narrow_desk):
    open_more(narrow_desk, 1)
    narrow_desk.controller.rename(narrow_desk.pane(2).conversation.chat_id, "Salt & pepper")
    assert narrow_desk.window.tabs.bar.tabText(2) == "Salt && pepper"


@pytest.mark.parametrize("action", ["sidebar", "gauge"])
def test_the_tool_tip_of_a_panel_says_what_a_click_does(desk, action):
    button = button_of(desk, getattr(desk.window.actions_, action))
    seen = []
    for _ in range(3):
        seen.append((button.toolTip().split()[0], button.accessibleName().split()[0]))
        getattr(desk.window.actions_, action).trigger()
    assert seen == [("Hide", "Hide"), ("Show", "Show"), ("Hide", "Hide")]


def test_while_the_gauge_is_folded_its_memory_bar_stands_in_the_status_line(narrow_desk, qtbot):
    window = narrow_desk.window
    narrow_desk.say(snapshot(*window.panes.open_chats))
    assert is_on_top(narrow_desk, window.compact.bar)
    assert [segment.kind for segment in window.compact.bar.segments()]
    qtbot.mouseClick(window.compact.bar, LEFT)
    assert is_on_top(narrow_desk, window.gauge.blocks.map)
    window.resize(1600, 600)
    qtbot.waitUntil(lambda: not window.compact.isVisible())
