"""The engine's thread where something hangs, comes twice or is absurd."""

from __future__ import annotations

import threading

import pytest

from pagedesk.engine import watchdog
from pagedesk.engine.engine import Engine
from pagedesk.engine.thread import EngineThread
from pagedesk.protocol import Cancel, EnginePhase, Finished, LoadModel, Stalled
from tests.helpers.engines import endings, of_kind, submit
from tests.helpers.loader import Gate, Loader
from tests.helpers.recorder import Recorder


@pytest.fixture
def gate(loader: Loader) -> Gate:
    loader.gate = Gate()
    return loader.gate


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watchdog that barks after some milliseconds."""
    monkeypatch.setattr(watchdog, "LOOK_S", 0.001)
    monkeypatch.setattr(Engine, "patience_s", 0.01)


def test_a_second_request_of_one_name_is_ignored_and_the_first_goes_on(
    thread: EngineThread, recorder: Recorder, gate: Gate
) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit("r"))
    gate.wait_for_step(1)
    thread.send(submit("r", "another"))
    thread.send(submit("s"))
    gate.let_go(100)
    recorder.wait(Finished, count=2)
    assert endings(recorder.events) == [("r", "length"), ("s", "length")]


def test_a_prompt_that_is_cancelled_while_it_is_computed_takes_no_further_step(
    thread: EngineThread, recorder: Recorder, gate: Gate
) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit("r", "x" * 200))
    gate.let_go(1)
    gate.wait_for_step(2)
    thread.send(Cancel("r"))
    gate.let_go(100)
    recorder.wait(Finished)
    assert (gate.num_begun, endings(recorder.events)) == (2, [("r", "cancelled")])


@pytest.mark.usefixtures("impatience")
def test_a_step_that_hangs_is_told_and_so_is_its_end(thread: EngineThread, recorder: Recorder, gate: Gate) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=1))
    recorder.wait(Stalled)
    gate.let_go(100)
    recorder.wait(Finished)
    assert Stalled(None) in recorder.events


@pytest.mark.usefixtures("impatience")
def test_a_load_may_take_as_long_as_it_likes(thread: EngineThread, recorder: Recorder, loader: Loader) -> None:
    loader.held["m"] = threading.Event()
    thread.send(LoadModel("m"))
    recorder.wait_for_phase(EnginePhase.LOADING, count=50)
    loader.held["m"].set()
    recorder.wait_for_phase(EnginePhase.READY)
    assert of_kind(recorder.events, Stalled) == []


def test_the_end_refuses_an_absurd_number_of_answers_instead_of_ending_each(recorder: Recorder, loader: Loader) -> None:
    loader.held["m"] = threading.Event()
    thread = EngineThread(recorder.publish)
    thread.start()
    thread.send(LoadModel("m"))
    loader.has_begun.wait()
    thread.send(submit("many", answers=10**15))
    thread.send(submit("none", answers=0))
    assert thread.stop(30)
    assert endings(recorder.events) == [("many", "failed"), ("none", "failed")]


def test_no_thread_is_left_when_the_engine_has_ended(recorder: Recorder) -> None:
    before = set(threading.enumerate())
    thread = EngineThread(recorder.publish)
    thread.start()
    assert thread.stop(30)
    assert set(threading.enumerate()) <= before
