"""What the next start takes over: the model, the window's size, the pane in use."""

from __future__ import annotations

import pytest

from pagedesk.protocol import LoadFailed, LoadModel
from tests.helpers.fake_engine import model_ready


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "mine.gguf"
    path.touch()
    return path


@pytest.fixture
def used_once(open_desk, model) -> None:
    """The program ran, loaded the model well and was closed."""
    desk = open_desk()
    desk.say(model_ready(str(model)))
    desk.application.close()


@pytest.mark.usefixtures("used_once")
def test_the_model_that_loaded_well_last_is_loaded_again(open_desk, model):
    assert open_desk().engine.sent[0] == LoadModel(str(model))


@pytest.mark.usefixtures("used_once")
def test_a_model_that_is_asked_for_wins(open_desk, tmp_path):
    assert open_desk(model=tmp_path / "asked.gguf").engine.sent[0] == LoadModel(str(tmp_path / "asked.gguf"))


@pytest.mark.usefixtures("used_once")
def test_the_starter_takes_the_place_of_a_model_that_is_gone_and_says_so(open_desk, model):
    model.unlink()
    desk = open_desk()
    assert desk.engine.sent[0] == LoadModel(str(desk.application.state.starter))
    desk.say(model_ready(str(desk.application.state.starter)))
    assert desk.window.notice.isVisible()
    assert desk.window.notice.title.text().replace("\u200b", "") == "mine.gguf was not found"


@pytest.mark.usefixtures("used_once")
def test_a_model_that_did_not_load_is_not_remembered(open_desk, model):
    desk = open_desk()
    desk.fail_to_load(LoadFailed("/models/large.gguf", "It is too large.", "Choose another."))
    desk.application.close()
    assert open_desk().engine.sent[0] == LoadModel(str(model))


@pytest.mark.usefixtures("used_once")
def test_the_starter_is_remembered_as_such_wherever_it_lies(open_desk):
    desk = open_desk()
    desk.say(model_ready(str(desk.application.state.starter)))
    desk.application.close()
    desk = open_desk()
    assert desk.engine.sent[0] == LoadModel(str(desk.application.state.starter))


def test_the_size_of_the_window_comes_back(open_desk):
    open_desk(size=(741, 523)).application.close()
    assert open_desk(size=None).window.size().toTuple() == (741, 523)


def test_a_place_outside_every_screen_is_brought_back_onto_one(open_desk):
    desk = open_desk(size=(741, 523))
    desk.window.move(90_000, 90_000)
    desk.application.close()
    desk = open_desk(size=None)
    assert desk.window.screen().availableGeometry().intersects(desk.window.geometry())


def test_the_pane_in_use_comes_back(open_desk):
    desk = open_desk()
    for index in (0, 1):
        desk.ask("kept", index)
    desk.window.panes.focus(1)
    desk.application.close()
    desk = open_desk()
    assert desk.window.panes.focused is desk.pane(1)
