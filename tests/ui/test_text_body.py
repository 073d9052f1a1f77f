"""Long paragraphs are cut into blocks; nobody can see it, mark it or copy it."""

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from pagedesk.ui.chat import text_body
from pagedesk.ui.chat.text_body import TextBody
from pagedesk.ui.theme import Scheme, Theme

pytestmark = pytest.mark.usefixtures("qapp")

WIDTH = 300.0
RUN = "0123456789" * 330
TEXTS = {
    "a run without a space": RUN,
    "a run among words": f"Look at this: {RUN} and then go on.\n\nA new paragraph.\nAnd a line.",
    "two runs": f"{RUN}\n{RUN[:1500]}",
    "words in one line": "word after word, " * 200,
    "Japanese": "日本語の長い文章です。" * 150,
    "emoji": "\U0001f469\u200d\U0001f680\U0001f600 ok" * 250,
}
every_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def body(text: str, width: float = WIDTH) -> TextBody:
    made = TextBody(Theme(Scheme.DARK), text)
    made.set_width(width)
    return made


def grown(text: str, piece_length: int = 70) -> TextBody:
    made = body("")
    for start in range(0, len(text), piece_length):
        made.append(text[start : start + piece_length])
    return made


@pytest.fixture
def uncut(monkeypatch):
    """Makes a body whose paragraphs are blocks, however long they are."""

    def make(text: str, width: float = WIDTH) -> TextBody:
        with monkeypatch.context() as patch:
            patch.setattr(text_body, "_MAX_BLOCK", 10**9)
            return body(text, width)

    return make


def picture(of: TextBody, selection: tuple[int, int] | None = None) -> QImage:
    image = QImage(int(WIDTH), round(of.height), QImage.Format.Format_RGB32)
    image.fill(0)
    with QPainter(image) as painter:
        of.paint(painter, selection)
    return image


def num_blocks(of: TextBody) -> int:
    return of._document.blockCount()


@every_text
def test_a_text_that_grew_looks_as_if_it_was_not_cut(uncut, text):
    whole = uncut(text)
    assert num_blocks(grown(text)) > num_blocks(whole)
    assert picture(grown(text)) == picture(whole)


@every_text
def test_a_text_looks_as_if_it_was_not_cut(uncut, text):
    assert picture(body(text)) == picture(uncut(text))


@every_text
def test_a_text_at_another_width_looks_as_if_it_was_not_cut(uncut, text):
    resized = grown(text)
    resized.set_width(WIDTH - 37)
    assert picture(resized) == picture(uncut(text, WIDTH - 37))


def test_a_run_without_a_space_is_cut_when_it_is_shown():
    assert num_blocks(body(RUN)) > 2


@every_text
def test_only_little_is_laid_out_again_when_a_text_grows(text):
    last = grown(text)._document.lastBlock()
    assert last.length() < text_body._MAX_BLOCK + 200


def spots(of: TextBody) -> list[QPointF]:
    return [QPointF(x, y) for y in range(5, int(of.height), 101) for x in (0, 71, 160, 230)]


@every_text
def test_a_point_is_the_same_position_as_in_a_text_that_was_not_cut(uncut, text):
    whole, cut = uncut(text), grown(text)
    assert [cut.position_at(spot) for spot in spots(whole)] == [whole.position_at(spot) for spot in spots(whole)]


@every_text
def test_what_is_marked_is_copied_as_it_was_written(uncut, text):
    whole, cut = uncut(text), grown(text)
    places = [whole.position_at(spot) for spot in spots(whole)]
    for start, end in zip(places, places[9:], strict=False):
        marked = min(start, end), max(start, end)
        assert cut.selected_text(*marked) == whole.selected_text(*marked)


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_a_copy_that_begins_and_ends_at_cuts_is_exact(offset):
    cut = body(RUN)
    first, last = cut._cuts[0] + offset, cut._cuts[-1] + offset
    assert cut.selected_text(first, last) == RUN[first:last]
    assert cut.selected_text(0, len(RUN)) == RUN


def test_words_stay_marked_when_the_width_changes():
    resized = body(RUN)
    marked = 500, 2500
    resized.set_width(WIDTH - 37)
    assert resized.selected_text(*marked) == RUN[500:2500]


def test_marked_words_are_painted_across_a_cut(uncut):
    cut, whole = (picture(each, (500, 2500)) for each in (body(RUN), uncut(RUN)))
    text_area = cut.rect().adjusted(0, 0, -4, 0)  # right of it stands the mark of a line's end that Qt paints
    assert cut.copy(text_area) == whole.copy(text_area)
