from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from pagedesk.chats.models import Chat, MessageState, ReplyEnd
from pagedesk.protocol import FinishReason, Role, Timings, TurnsDropped, Usage
from pagedesk.ui.chat.conversation import Activity, Conversation, ShownMessage
from pagedesk.ui.chat.reply_notes import line_of, opening_of
from pagedesk.ui.chat.text_body import TextBody
from pagedesk.ui.chat.transcript import FOLLOW_DISTANCE, Transcript
from pagedesk.ui.theme import Scheme, Theme

END = ReplyEnd(FinishReason.STOP, Usage(40, 16, 402, 16), Timings(0, 1, 1, 1, 72.0))


def message(text: str, role: Role = Role.USER, state: MessageState = MessageState.DONE, **more) -> ShownMessage:
    return ShownMessage(text[:8], role, text, state, 0.0, **more)


def reply(text: str = "", state: MessageState = MessageState.WRITING, **more) -> ShownMessage:
    return message(text, Role.ASSISTANT, state, **more)


class Page:
    """A transcript on a conversation."""

    def __init__(self, qtbot, *messages: ShownMessage) -> None:
        self.conversation = Conversation(Chat("c", "Title", 0, "", 0.0, 0.0), list(messages))
        self.transcript = Transcript(Theme(Scheme.DARK))
        self.transcript.resize(420, 300)
        self.transcript.set_conversation(self.conversation)
        qtbot.addWidget(self.transcript)
        self.transcript.show()
        qtbot.waitExposed(self.transcript)

    @property
    def bar(self):
        return self.transcript.verticalScrollBar()

    def write(self, text: str) -> None:
        self.conversation.grow(self.conversation.messages[-1], text, (1,))


@pytest.fixture
def long_page(qtbot) -> Page:
    """A long history, and a reply that is being written under it."""
    page = Page(qtbot, *[message("word " * 60) for _ in range(8)], reply("start"))
    assert page.bar.maximum() > 4 * FOLLOW_DISTANCE
    return page


def test_it_opens_at_the_newest_message(long_page):
    assert long_page.bar.value() == long_page.bar.maximum()


def test_the_end_of_a_growing_reply_is_followed(long_page):
    long_page.write("more words " * 200)
    assert long_page.bar.value() == long_page.bar.maximum()


def test_the_end_is_followed_from_a_little_above_it(long_page):
    long_page.bar.setValue(long_page.bar.maximum() - FOLLOW_DISTANCE)
    long_page.write("more words " * 200)
    assert long_page.bar.value() == long_page.bar.maximum()


def test_a_reader_further_up_is_left_where_he_reads(long_page):
    place = long_page.bar.maximum() - FOLLOW_DISTANCE - 1
    long_page.bar.setValue(place)
    long_page.write("more words " * 200)
    assert long_page.bar.value() == place


def test_a_new_message_is_shown_wherever_the_reader_was(long_page):
    long_page.bar.setValue(0)
    long_page.conversation.add(message("A new question"))
    assert long_page.bar.value() == long_page.bar.maximum()


def test_only_the_reply_that_grows_is_laid_out_again(long_page, monkeypatch):
    laid_out = []
    for row in long_page.transcript._rows:
        monkeypatch.setattr(row.body, "set_width", lambda _width, row=row: laid_out.append(row))
        monkeypatch.setattr(row, "append", lambda _text, row=row: laid_out.append(row) or 0)
    long_page.write("more")
    assert laid_out == [long_page.transcript._rows[-1]]


class PaintedAreas(QObject):
    """Notes which areas of a widget are painted."""

    def __init__(self, widget) -> None:
        super().__init__(widget)
        self.rects: list[QRect] = []
        widget.installEventFilter(self)

    def eventFilter(self, _watched, event):  # noqa: N802 - Qt's name
        if event.type() is QEvent.Type.Paint:
            self.rects.append(QRect(event.rect()))
        return False


def picture(page: Page):
    """What is on the screen, not what a new paint would give."""
    QApplication.processEvents()
    return page.transcript.screen().grabWindow(page.transcript.winId()).toImage()


def test_what_stands_above_the_last_line_of_a_growing_reply_is_not_painted_again(long_page, qtbot):
    picture(long_page)
    painted = PaintedAreas(long_page.transcript.viewport())
    long_page.write(" more")
    qtbot.waitUntil(lambda: bool(painted.rects))
    assert painted.rects[0].height() < 60


def test_a_message_is_told_which_part_of_it_can_be_seen(long_page, monkeypatch):
    clips = []
    monkeypatch.setattr(
        TextBody, "paint", lambda _body, painter, _selection=None: clips.append(painter.clipBoundingRect())
    )
    long_page.transcript.viewport().repaint()
    heights = [clip.height() for clip in clips]
    assert heights
    assert 0 < max(heights) <= long_page.transcript.viewport().height() + 2


def test_a_page_painted_piece_by_piece_looks_like_one_painted_at_once(long_page):
    for word in ("more words to come " * 30).split(" "):
        long_page.write(f"{word} ")
        QApplication.processEvents()
    piece_by_piece = picture(long_page)
    long_page.transcript.viewport().update()
    assert picture(long_page) == piece_by_piece


def test_tags_are_shown_as_text(qtbot):
    page = Page(qtbot, reply("<b>bold</b> & <img src=x>", MessageState.DONE))
    assert page.transcript._rows[0].body._document.toPlainText() == "<b>bold</b> & <img src=x>"


def test_a_reply_in_pieces_reads_as_the_same_reply_at_once(qtbot):
    text = "One.\n\nTwo\nthree.\n\n\nFour"
    at_once = Page(qtbot, reply(text))
    page = Page(qtbot, reply(""))
    for letter in text:
        page.write(letter)
    assert (
        page.transcript._rows[0].body._document.toPlainText()
        == at_once.transcript._rows[0].body._document.toPlainText()
    )
    assert page.transcript._rows[0].height == at_once.transcript._rows[0].height


def test_line_ends_of_windows_are_single_line_breaks_even_cut_in_two(qtbot):
    page = Page(qtbot, reply("one\r\ntwo\r"))
    page.write("\nthree")
    assert (
        page.transcript._rows[-1].body.height == Page(qtbot, reply("one\ntwo\nthree")).transcript._rows[-1].body.height
    )


def test_a_message_of_100000_characters_is_shown(qtbot):
    page = Page(qtbot, message("0123456789" * 10_000), reply("short"))
    assert page.bar.maximum() > 10_000
    page.transcript.resize(700, 300)
    assert page.bar.value() == page.bar.maximum()


def test_a_failed_reply_is_taller_by_its_cause_and_advice(qtbot):
    page = Page(qtbot, reply("Half a"))
    before = page.transcript._rows[0].height
    page.conversation.end(page.conversation.messages[0], MessageState.FAILED, "It broke.\nTry again.")
    assert page.transcript._rows[0].height > before + 40


def test_what_was_left_out_stands_before_the_first_word(qtbot):
    page = Page(qtbot, reply("alpha beta"))
    row = page.transcript._rows[0]
    before = row.height
    page.conversation.note_dropped(page.conversation.messages[0], TurnsDropped("r", 4, 900))
    assert opening_of(row.message) == "Older messages left out to make room: 4."
    assert (row.height - before, row.body_origin.y()) == (22, 22)


def test_words_below_what_was_left_out_are_marked_where_they_stand(qtbot):
    page = Page(qtbot, reply("alpha beta", MessageState.DONE, dropped=TurnsDropped("r", 4, 900)))
    viewport, left = page.transcript.viewport(), page.transcript._column().x()
    y = page.transcript._tops[0] + 22 + 10
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(left, y))
    page.transcript._selection.extend(page.transcript._row_at(QPoint(left + 300, y))[1])
    assert page.transcript.selected_text() == "alpha beta"


@pytest.mark.parametrize(
    ("reason", "words"), [(FinishReason.CONTEXT, "as long as the model allows"), (FinishReason.LENGTH, "may be")]
)
def test_a_reply_tells_the_end_of_the_context_from_its_own_limit(qtbot, reason, words):
    page = Page(qtbot, reply("alpha", MessageState.DONE, end=replace(END, reason=reason)))
    assert words in line_of(page.conversation, page.conversation.messages[0])


def test_the_copy_button_puts_the_whole_reply_on_the_clipboard(qtbot):
    page = Page(qtbot, reply("One.\n\nTwo", MessageState.DONE, end=END))
    button = page.transcript._rows[0].copy_button
    place = button.center() + QPoint(page.transcript._column().x(), page.transcript._tops[0])
    qtbot.mouseClick(page.transcript.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert QGuiApplication.clipboard().text() == "One.\n\nTwo"


def test_words_that_are_marked_are_copied(qtbot):
    page = Page(qtbot, reply("alpha beta", MessageState.DONE))
    viewport, left = page.transcript.viewport(), page.transcript._column().x()
    y = page.transcript._tops[0] + 10
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(left, y))
    qtbot.mouseMove(viewport, QPoint(left + 300, y))
    page.transcript._selection.extend(page.transcript._row_at(QPoint(left + 300, y))[1])
    qtbot.keyClick(page.transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "alpha beta"


def test_the_caret_before_the_first_word_has_a_line_of_its_own(qtbot):
    page = Page(qtbot, reply(""))
    page.conversation.set_activity(Activity.READING)
    assert page.transcript._rows[0].height >= 20


def test_japanese_that_comes_late_sets_the_whole_reply_anew(qtbot):
    page = Page(qtbot, reply("Mount Fuji "))
    before = page.transcript._rows[0].height
    page.write("は富士山です")
    assert page.transcript._rows[0].height == before + 3


def test_another_chat_takes_the_place_of_the_first(qtbot):
    page = Page(qtbot, message("first"))
    other = Conversation(Chat("d", "Other", 1, "", 0.0, 0.0), [message("second")])
    page.transcript.set_conversation(other)
    page.conversation.add(message("late"))
    assert [row.message.text for row in page.transcript._rows] == ["second"]


def test_a_change_of_the_height_does_not_stop_the_following(long_page):
    for height in (300, 20, 0, 500, 120):
        long_page.transcript.resize(420, height)
        long_page.write("more words " * 20)
    assert long_page.bar.value() == long_page.bar.maximum()


def test_a_click_and_an_arrow_key_do_not_stop_the_following(long_page, qtbot):
    qtbot.mouseClick(long_page.transcript.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(long_page.transcript, key)
        long_page.write("more words " * 200)
    assert long_page.bar.value() == long_page.bar.maximum()


def test_a_reader_who_comes_back_to_the_end_is_followed_again(long_page):
    long_page.bar.setValue(0)
    long_page.bar.setValue(long_page.bar.maximum())
    long_page.write("more words " * 200)
    assert long_page.bar.value() == long_page.bar.maximum()


def test_a_reader_further_up_stays_there_while_the_height_changes(long_page):
    long_page.bar.setValue(100)
    for height in (200, 320):
        long_page.transcript.resize(420, height)
        long_page.write("more words " * 20)
    assert long_page.bar.value() == 100


def ink(page: Page, rect: QRect) -> list[int]:
    """The pixel rows of a part of the transcript on which something is painted."""
    image = page.transcript.viewport().grab(rect).toImage()
    ground = image.pixel(0, 0)
    columns = range(image.width())
    return [y for y in range(image.height()) if any(image.pixel(x, y) != ground for x in columns)]


def test_a_sentence_under_a_reply_is_whole_in_a_narrow_pane(qtbot):
    page = Page(qtbot, reply(""))
    page.conversation.set_activity(Activity.QUEUED)
    wide = page.transcript._rows[0].height
    page.transcript.resize(300, 300)
    row = page.transcript._rows[0]
    rows_of_ink = ink(page, QRect(0, page.transcript._tops[0], 300, row.height))
    assert row.height > wide
    assert max(rows_of_ink) - min(rows_of_ink) > wide


def test_a_sentence_under_a_reply_keeps_its_distance_from_the_words(qtbot):
    page = Page(qtbot, reply("Half a reply", MessageState.STOPPED))
    row = page.transcript._rows[0]
    lower = round(row.body.height) - 4
    rows_of_ink = ink(page, QRect(0, page.transcript._tops[0] + lower, 300, row.height - lower))
    assert min(y for y in rows_of_ink if y > 4) - 4 >= 8
