import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication

from pagedesk.ui.chat.composer import Composer
from pagedesk.ui.theme import Scheme, Theme

ENTER = Qt.Key.Key_Return
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Outbox:
    """A composer and what it sent."""

    def __init__(self, qtbot) -> None:
        self.composer = Composer(Theme(Scheme.DARK))
        self.edit = self.composer.edit
        self.sent: list[str] = []
        self.composer.sent.connect(self.sent.append)
        self.composer.resize(400, 100)
        self.composer.show()
        qtbot.addWidget(self.composer)

    def compose(self, preedit: str, commit: str = "") -> None:
        """What an input method does between two keys."""
        event = QInputMethodEvent(preedit, [])
        event.setCommitString(commit)
        QApplication.sendEvent(self.edit, event)


@pytest.fixture
def outbox(qtbot) -> Outbox:
    return Outbox(qtbot)


def test_enter_sends_what_is_written(outbox, qtbot):
    qtbot.keyClicks(outbox.edit, "hello there")
    qtbot.keyClick(outbox.edit, ENTER)
    assert outbox.sent == ["hello there"]


def test_shift_enter_breaks_the_line(outbox, qtbot):
    qtbot.keyClicks(outbox.edit, "one")
    qtbot.keyClick(outbox.edit, ENTER, SHIFT)
    qtbot.keyClicks(outbox.edit, "two")
    assert outbox.sent == []
    assert outbox.edit.toPlainText() == "one\ntwo"


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_is_sent_without_a_word(outbox, qtbot, text):
    outbox.edit.setPlainText(text)
    qtbot.keyClick(outbox.edit, ENTER)
    assert outbox.sent == []
    assert not outbox.composer.button.isEnabled()


def test_an_enter_that_belongs_to_an_input_method_does_not_send(outbox, qtbot):
    outbox.compose("にほn")
    qtbot.keyClick(outbox.edit, ENTER)
    assert outbox.sent == []


def test_the_text_an_input_method_committed_is_sent_by_the_next_enter(outbox, qtbot):
    outbox.compose("にほn")
    outbox.compose("", commit="日本")
    qtbot.keyClick(outbox.edit, ENTER)
    assert outbox.sent == ["日本"]


def test_a_word_before_the_composed_one_is_not_sent_by_the_input_methods_enter(outbox, qtbot):
    qtbot.keyClicks(outbox.edit, "Fuji ")
    outbox.compose("さn")
    qtbot.keyClick(outbox.edit, ENTER)
    assert outbox.sent == []


def test_the_hint_goes_while_an_input_method_composes(outbox):
    shown = [outbox.edit.shows_hint]
    for preedit in ("に", ""):
        outbox.compose(preedit)
        shown.append(outbox.edit.shows_hint)
    assert shown == [True, False, True]


def test_while_a_reply_is_written_the_button_stops_and_enter_keeps_the_text(outbox, qtbot):
    outbox.composer.set_busy(is_busy=True)
    qtbot.keyClicks(outbox.edit, "next")
    qtbot.keyClick(outbox.edit, ENTER)
    with qtbot.waitSignal(outbox.composer.stopped):
        qtbot.mouseClick(outbox.composer.button, Qt.MouseButton.LeftButton)
    assert outbox.sent == []
    assert outbox.edit.toPlainText() == "next"


def test_it_grows_with_its_lines_and_stops_growing(outbox):
    heights = []
    for num_lines in (1, 4, 100):
        outbox.edit.setPlainText("\n".join(["line"] * num_lines))
        heights.append(outbox.composer.sizeHint().height())
    assert heights[0] < heights[1] < heights[2] <= 260


def test_pasted_text_loses_its_formatting(outbox):
    QGuiApplication.clipboard().setText("<b>bold</b>")
    outbox.edit.paste()
    assert outbox.edit.toPlainText() == "<b>bold</b>"


def test_the_button_says_what_it_does(outbox):
    assert outbox.composer.button.accessibleName() == "Send"
    outbox.composer.set_busy(is_busy=True)
    assert outbox.composer.button.accessibleName() == "Stop the reply"


def test_a_click_on_the_button_sends_what_is_still_composed_too(outbox, qtbot):
    qtbot.keyClicks(outbox.edit, "Fuji ")
    outbox.compose("\u5c71")
    qtbot.mouseClick(outbox.composer.button, Qt.MouseButton.LeftButton)
    assert outbox.sent == ["Fuji \u5c71"]


def test_what_is_composed_stays_when_the_focus_goes(outbox):
    outbox.edit.setFocus()
    outbox.compose("\u5c71")
    outbox.edit.clearFocus()
    assert outbox.edit.toPlainText() == "\u5c71"
