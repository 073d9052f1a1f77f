import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from pagedesk.ui.chat.composer import Composer
from pagedesk.ui.theme import Scheme, Theme

ENTER = Qt.Key.Key_Return
SHIFT = Qt.KeyboardModifier.ShiftModifier
FUJI = "\u5bcc\u58eb\u5c71\u306f\u65e5\u672c\u3067\u4e00\u756a\u9ad8\u3044\u5c71\u3067\u3059\u3002"
FIFTEEN_LINES = "\n".join(f"line {number}" for number in range(1, 16))


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


class Growing:
    """A composer that gets the height it wants."""

    def __init__(self, qtbot, width: int) -> None:
        self.room = QWidget()
        self.composer = Composer(Theme(Scheme.DARK))
        self.edit = self.composer.edit
        column = QVBoxLayout(self.room)
        column.addWidget(self.composer)
        column.addStretch()
        qtbot.addWidget(self.room)
        self.room.resize(width, 600)
        self.room.show()
        qtbot.waitExposed(self.room)

    def paste(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.edit.paste()
        QApplication.processEvents()

    @property
    def shows_all(self) -> bool:
        """Whether the first line is at the top, the last one ends in sight, and nothing scrolls."""
        is_at_top = self.edit.firstVisibleBlock().blockNumber() == 0 and self.edit.verticalScrollBar().value() == 0
        last = self.edit.blockBoundingGeometry(self.edit.document().lastBlock()).translated(self.edit.contentOffset())
        return (
            is_at_top
            and last.bottom() <= self.edit.viewport().height()
            and not self.edit.verticalScrollBar().isVisible()
        )

    @property
    def shows_cursor(self) -> bool:
        return self.edit.viewport().rect().contains(self.edit.cursorRect())


@pytest.mark.parametrize("width", [300, 700])
def test_each_new_line_makes_it_higher_and_the_first_stays_in_sight(qtbot, width):
    growing = Growing(qtbot, width)
    for number in range(9):
        if number:
            qtbot.keyClick(growing.edit, ENTER, SHIFT)
        qtbot.keyClicks(growing.edit, f"line{number}")
        qtbot.waitUntil(lambda height=22 + 20 * number: growing.edit.height() == height, timeout=1000)
        assert growing.shows_all


@pytest.mark.parametrize("text", ["a\nb\nc\nd", f"{FUJI * 5}\nsecond"])
def test_what_is_pasted_is_shown_from_its_first_line(qtbot, text):
    growing = Growing(qtbot, 300)
    growing.paste(text)
    qtbot.waitUntil(lambda: growing.shows_all, timeout=1000)


def test_more_lines_than_it_shows_scroll_to_the_cursor(qtbot):
    growing = Growing(qtbot, 400)
    growing.paste(FIFTEEN_LINES)
    qtbot.waitUntil(lambda: growing.shows_cursor, timeout=1000)
    assert growing.composer.height() <= 260
    growing.edit.moveCursor(QTextCursor.MoveOperation.Start)
    assert growing.shows_cursor


def test_a_scrolled_text_ends_with_its_last_line_at_the_bottom(qtbot):
    growing = Growing(qtbot, 400)
    growing.paste(FIFTEEN_LINES)
    qtbot.waitUntil(
        lambda: 0 <= growing.edit.viewport().height() - growing.edit.cursorRect().bottom() < 6, timeout=1000
    )


@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 100_000], ids=["words", "one word"])
def test_a_long_paste_never_scrolls_sideways(qtbot, text):
    growing = Growing(qtbot, 400)
    growing.paste(text)
    qtbot.waitUntil(growing.edit.verticalScrollBar().isVisible, timeout=1000)
    assert not growing.edit.horizontalScrollBar().isVisible()
