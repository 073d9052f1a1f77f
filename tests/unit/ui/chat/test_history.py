import pytest

from pagedesk.chats.models import MessageState
from pagedesk.protocol import Message, Role, TextPart
from pagedesk.ui.chat.conversation import ShownMessage
from pagedesk.ui.chat.history import history, title_of


def user(text: str) -> ShownMessage:
    return ShownMessage("u", Role.USER, text, MessageState.DONE, 0.0)


def reply(text: str, *token_ids: int, state: MessageState = MessageState.DONE) -> ShownMessage:
    return ShownMessage("r", Role.ASSISTANT, text, state, 0.0, token_ids=list(token_ids))


def test_a_system_prompt_comes_first():
    assert history("Be brief.", [user("Hi")])[0] == Message.of(Role.SYSTEM, "Be brief.")


def test_replies_keep_the_ids_that_were_generated():
    assert history("", [user("Hi"), reply("Yes", 5, 6)])[1] == Message(Role.ASSISTANT, (TextPart("Yes"),), (5, 6))


def test_questions_around_a_reply_that_was_stopped_before_its_first_word_become_one_turn():
    turns = history("", [user("One"), reply("", state=MessageState.STOPPED), user("Two")])
    assert turns == (Message.of(Role.USER, "One\n\nTwo"),)


def test_a_question_that_failed_is_not_asked_again_with_the_next_one():
    turns = history("", [user("Too long"), reply("", state=MessageState.FAILED), user("Two")])
    assert turns == (Message.of(Role.USER, "Two"),)


def test_what_a_disk_damaged_is_not_told_to_the_model():
    turns = history("", [user("One"), reply("Gar\ufffd", 5, state=MessageState.DAMAGED), user("Two")])
    assert turns == (Message.of(Role.USER, "One\n\nTwo"),)


def test_a_reply_that_failed_in_mid_word_stays_with_its_question():
    turns = history("", [user("One"), reply("Ha", 5, state=MessageState.FAILED), user("Two")])
    assert [turn.text for turn in turns] == ["One", "Ha", "Two"]


def test_a_reply_without_ids_is_encoded_from_its_text():
    assert history("", [user("Hi"), reply("Yes")])[1].token_ids is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("Explain lenses. Be brief.", "Explain lenses"),
        ("  two\nlines  ", "two lines"),
        ("富士山に登りたいです。どの道がよいですか", "富士山に登りたいです"),
        ("Now port the writer as well, and keep the old version", "Now port the writer as well, and keep the\u2026"),
        ("x" * 100, "x" * 42 + "\u2026"),
        ("... dots", "... dots"),
    ],
)
def test_a_title_is_the_first_words(text, title):
    assert title_of(text) == title
