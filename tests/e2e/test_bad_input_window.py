"""Bad input in the window: one clear sentence with a cause and a next step, and the program lives on."""

import shutil

import pytest

from tests.helpers.driven_window import DrivenWindow
from tests.helpers.starter import starter_model
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf
from tests.helpers.xserver import x_server

pytestmark = pytest.mark.e2e

RAISES = "{{ raise_exception('this template wants no message') }}"
NEVER_ENDS = (
    "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}"
    "{% endfor %}{% endfor %}{% endfor %}"
)


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """One run of the program for all tests of this file: it outlives every bad input."""
    folder = tmp_path_factory.mktemp("window")
    with x_server() as server, DrivenWindow(server, folder, "--model", str(good_model(folder))) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(autouse=True)
def _lives_on(window, tmp_path):
    """Whatever a test does in its chat: a good model loads afterwards, and a message in a fresh chat is answered."""
    open_fresh_chat(window)
    yield
    load(window, good_model(tmp_path))
    open_fresh_chat(window)
    assert answer(window, "Hello") == ("DONE", "")


def good_model(folder):
    """A model that answers with a few tokens."""
    return write_tiny_gguf(folder / "good.gguf", TinyModel(context_length=64))


def open_fresh_chat(window):
    window.server.key("ctrl+n")
    window.wait(lambda state: not state["panes"][0]["messages"], "a fresh chat")


def load(window, path):
    window.choose_model(path)
    return window.wait(lambda state: state["model"] == path.stem and state["phase"] == "ready", f"{path.name} to load")


def refusal(window, path):
    """What the notice says of a file that is refused; the model in use stays."""
    model = window.state()["model"]
    window.choose_model(path)
    state = window.wait(lambda state: path.name in state["notice"] and state["phase"] == "ready", "the notice")
    assert state["model"] == model
    return state["notice"]


def answer(window, text, send=DrivenWindow.write_in):
    """State and error of the reply to a message in the first pane."""
    num_messages = len(window.state()["panes"][0]["messages"])
    send(window, 0, text)
    state = window.wait(lambda state: has_ended(state["panes"][0], num_messages + 2), f"the end of {text[:40]!r}")
    _role, outcome, _text, error = state["panes"][0]["messages"][-1]
    return outcome, error


def has_ended(pane, num_messages):
    return len(pane["messages"]) == num_messages and pane["activity"] == "IDLE"


def test_a_file_that_is_not_gguf_is_named_as_such(window, tmp_path):
    path = tmp_path / "notes.gguf"
    path.write_text("Dear diary, this is no model.")

    assert "is not a GGUF file" in refusal(window, path)


def test_a_truncated_file_says_how_many_bytes_are_missing(window, tmp_path):
    path = tmp_path / "short.gguf"
    shutil.copyfile(starter_model(), path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1_000_000)

    assert "1,000,000 of 98,362,432 bytes are missing" in refusal(window, path)


def test_an_unknown_architecture_is_named_beside_those_that_are_known(window, tmp_path):
    path = write_tiny_gguf(tmp_path / "new.gguf", TinyModel(metadata={"general.architecture": "zeppelin"}))

    notice = refusal(window, path)
    assert "zeppelin" in notice
    assert "llama" in notice


def test_a_missing_path_is_repeated(window, tmp_path):
    assert str(tmp_path / "nowhere.gguf") in refusal(window, tmp_path / "nowhere.gguf")


def test_a_path_with_japanese_spaces_and_an_emoji_works(window, tmp_path):
    folder = tmp_path / "モデル 置き場 🗻"
    folder.mkdir()
    load(window, write_tiny_gguf(folder / "小さい モデル 🐣.gguf", TinyModel(context_length=64)))

    assert answer(window, "Hello") == ("DONE", "")


def test_a_template_that_raises_is_quoted_and_the_chat_goes_on_with_another_model(window, tmp_path):
    load(window, write_tiny_gguf(tmp_path / "raises.gguf", TinyModel(chat_template=RAISES)))
    outcome, error = answer(window, "Hello")
    assert outcome == "FAILED"
    assert "this template wants no message" in error

    load(window, good_model(tmp_path))
    assert answer(window, "Again") == ("DONE", "")


def test_a_template_that_never_ends_is_given_up_after_a_second(window, tmp_path):
    load(window, write_tiny_gguf(tmp_path / "endless.gguf", TinyModel(chat_template=NEVER_ENDS)))

    outcome, error = answer(window, "Hello")
    assert outcome == "FAILED"
    assert "1 s" in error


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_message_changes_nothing(window, text):
    before = window.state()["panes"]
    window.server.click(*before[0]["composer"])
    window.server.type(text)
    window.server.key("Return")
    window.server.type("later")
    after = window.wait(lambda state: state["panes"][0]["draft"] == text + "later", "what is typed next")["panes"]
    window.server.key("ctrl+a", "Delete")
    window.wait(lambda state: not state["panes"][0]["draft"], "an empty composer")

    assert [pane["messages"] for pane in after] == [pane["messages"] for pane in before]


def test_a_message_of_100000_characters_is_refused_with_both_lengths_and_the_next_is_answered(window):
    outcome, error = answer(window, "lamp " * 20_000, DrivenWindow.paste_in)
    assert outcome == "FAILED"
    assert "100,008 tokens" in error
    assert "at most 64" in error

    assert answer(window, "Hello") == ("DONE", "")
