"""Started twice: the second process shows the window of the first, and ends."""

import pytest

from tests.helpers.driven_window import DrivenWindow
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf
from tests.helpers.xserver import x_server

pytestmark = pytest.mark.e2e


@pytest.fixture
def covered(tmp_path):
    """A running program whose window lies under that of another, which has the keyboard."""
    model = str(write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(context_length=64)))
    folders = [tmp_path / name for name in ("first", "other")]
    for folder in folders:
        folder.mkdir()
    with x_server() as server, DrivenWindow(server, folders[0], "--model", model) as first:
        first.wait_until_ready()
        with DrivenWindow(server, folders[1], "--model", model) as other:
            other.wait(lambda state: state["is_active"], "the other window to cover the first")
            first.wait(lambda state: not state["is_active"], "the first window to lose the keyboard")
            yield first


def test_a_second_start_brings_the_first_window_to_the_front_and_ends_with_0(covered):
    second = covered.start_again()
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == "PageDesk is open already: its window comes to the front.\n"
    covered.wait(lambda state: state["is_active"], "the first window to have the keyboard")
    covered.server.click(*covered.state()["panes"][0]["composer"])
    covered.server.type("here")
    covered.wait(lambda state: state["panes"][0]["draft"] == "here", "a click and keys to reach the first window")


def test_a_second_start_with_another_model_says_that_it_was_not_loaded(covered):
    second = covered.start_again("--model", "/models/other.gguf")
    assert second.returncode == 0
    assert "/models/other.gguf was not loaded" in second.stdout
