"""Which chat a key belongs to: that of the pane where one clicked last."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QApplication

from tests.helpers.fake_engine import finished
from tests.ui.test_chats import delta

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def talked_desk(desk):
    """Two chats with a message and a reply each; the keyboard is in the second pane."""
    for index in range(2):
        request_id = desk.ask("one", index)
        desk.say(delta(request_id, "alpha beta", 1), finished(request_id))
    desk.window.panes.focus(1)
    return desk


def test_a_message_goes_to_the_chat_on_whose_empty_ground_one_clicked(desk, qtbot):
    desk.window.panes.focus(1)
    qtbot.mouseClick(desk.window.childAt(desk.pane(0).mapTo(desk.window, QPoint(20, 100))), LEFT)
    qtbot.keyClicks(QApplication.focusWidget(), "hello")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert [message.text for message in desk.pane(0).conversation.messages] == ["hello", ""]
    assert desk.pane(1).conversation.messages == []


@pytest.mark.parametrize("part", ["heading", "header", "composer"])
def test_a_click_on_any_part_of_an_empty_chat_leads_to_its_composer(desk, qtbot, part):
    desk.window.panes.focus(1)
    qtbot.mouseClick(getattr(desk.pane(0), part), LEFT, pos=QPoint(4, 4))
    assert QApplication.focusWidget() is desk.pane(0).composer.edit


@pytest.mark.parametrize("part", ["transcript", "meter"])
def test_a_click_on_any_part_of_a_chat_leads_to_its_composer(talked_desk, qtbot, part):
    widget = getattr(talked_desk.pane(0), part)
    qtbot.mouseClick(widget.viewport() if part == "transcript" else widget, LEFT)
    assert QApplication.focusWidget() is talked_desk.pane(0).composer.edit


def test_stopping_a_reply_with_the_mouse_leads_to_its_composer(talked_desk, qtbot):
    talked_desk.ask("two", 0)
    talked_desk.window.panes.focus(1)
    qtbot.mouseClick(talked_desk.pane(0).composer.button, LEFT)
    assert QApplication.focusWidget() is talked_desk.pane(0).composer.edit


def mark_words(desk, qtbot) -> None:
    transcript = desk.pane(0).transcript
    y = transcript._tops[1] + 10
    left = transcript._column().x()
    qtbot.mousePress(transcript.viewport(), LEFT, pos=QPoint(left, y))
    transcript._selection.extend(transcript._row_at(QPoint(left + 300, y))[1])
    qtbot.mouseRelease(transcript.viewport(), LEFT, pos=QPoint(left + 300, y))


def test_what_was_marked_is_copied_with_the_keys(talked_desk, qtbot):
    mark_words(talked_desk, qtbot)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "alpha beta"


def test_what_is_typed_while_words_are_marked_is_written_in_the_composer(talked_desk, qtbot):
    mark_words(talked_desk, qtbot)
    for letter in "hi there":
        qtbot.keyClicks(QApplication.focusWidget(), letter)
    assert talked_desk.pane(0).composer.edit.toPlainText() == "hi there"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_after_another_title_the_keyboard_is_in_the_composer(desk, qtbot, key):
    desk.pane(0).header.start_renaming()
    qtbot.keyClicks(QApplication.focusWidget(), "Name")
    qtbot.keyClick(QApplication.focusWidget(), key)
    assert QApplication.focusWidget() is desk.pane(0).composer.edit


def test_the_menu_button_is_not_lit_after_its_menu_when_the_pointer_is_elsewhere(desk):
    button = desk.pane(0).header.menu_button
    QCursor.setPos(desk.window.mapToGlobal(QPoint(4, 400)))
    plain = button.grab().toImage()
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    lit = button.grab().toImage()
    button.menu().aboutToHide.emit()
    assert lit != plain
    assert button.grab().toImage() == plain


def test_the_buttons_of_a_pane_say_what_they_do(desk):
    header = desk.pane(0).header
    assert [button.toolTip() for button in (header.menu_button, header.close_button)] == [
        "Chat menu: rename, system prompt, delete",
        "Close this pane; the chat stays (Ctrl+W)",
    ]
