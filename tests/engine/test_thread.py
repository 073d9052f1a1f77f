"""The engine's thread: loads, serves, refuses and always ends when it is told to."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from pagedesk.engine.engine import Engine
from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.thread import EngineThread
from pagedesk.protocol import (
    Cancel,
    EnginePhase,
    EngineStatus,
    Failed,
    Finished,
    FinishReason,
    LoadFailed,
    LoadModel,
    Message,
    ModelReady,
    Overflow,
    PoolSnapshot,
    Role,
    SetFocus,
    Shutdown,
    Started,
    TextDelta,
    TurnsDropped,
)
from tests.helpers.engines import endings, of_kind, submit, text_of
from tests.helpers.loader import Loader
from tests.helpers.recorder import Recorder


def test_it_starts_empty(thread: EngineThread, recorder: Recorder) -> None:
    recorder.wait_for_phase(EnginePhase.EMPTY)
    assert (recorder.phases(), thread.is_alive) == ([EnginePhase.STARTING, EnginePhase.EMPTY], True)


def test_loading_tells_its_stages_and_ends_ready(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m", num_blocks=7))
    recorder.wait_for_phase(EnginePhase.READY)
    assert recorder.phases()[2:] == [EnginePhase.LOADING, EnginePhase.READY]
    assert EngineStatus(EnginePhase.LOADING, "weights", 0, 2) in recorder.events


def test_the_settings_of_a_load_reach_the_loader(thread: EngineThread, recorder: Recorder, loader: Loader) -> None:
    thread.send(LoadModel("m", num_blocks=7, max_model_len=99, budget_bytes=5))
    recorder.wait_for_phase(EnginePhase.READY)
    [config] = loader.configs
    assert (config.num_blocks, config.max_model_len, config.budget_bytes) == (7, 99, 5)


def test_model_ready_comes_before_the_phase_and_the_first_picture_after_it(
    thread: EngineThread, recorder: Recorder
) -> None:
    thread.send(LoadModel("m"))
    recorder.wait(PoolSnapshot)
    assert [type(event) for event in recorder.events[-3:]] == [ModelReady, EngineStatus, PoolSnapshot]


def test_a_request_is_answered(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit())
    recorder.wait(Finished)
    assert (len(text_of(recorder.events)), len(of_kind(recorder.events, TextDelta))) == (6, 6)


def test_what_is_left_out_of_a_prompt_is_told_before_it_starts(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m"))
    history = [Message.of(Role.USER, "long " * 30), Message.of(Role.ASSISTANT, "long " * 30)]
    thread.send(replace(submit(history=history), overflow=Overflow.DROP_OLDEST))
    recorder.wait(Finished)
    told = [event for event in recorder.events if isinstance(event, TurnsDropped | Started)]
    assert [type(event) for event in told] == [TurnsDropped, Started]


def test_a_picture_follows_the_last_step(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit())
    last = recorder.wait(PoolSnapshot, lambda snapshot: snapshot.generated_tokens == 6)
    assert (last.num_owned, last.num_running) == (0, 0)


def test_a_request_without_a_model_fails_with_a_sentence(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(submit())
    assert recorder.wait(Failed).cause == "No model is loaded."


def test_a_request_waits_while_a_model_loads(thread: EngineThread, recorder: Recorder, loader: Loader) -> None:
    loader.held["m"] = threading.Event()
    thread.send(LoadModel("m"))
    loader.has_begun.wait()
    thread.send(submit())
    loader.held["m"].set()
    assert recorder.wait(Finished).reason is FinishReason.LENGTH


def test_a_request_that_waits_for_a_load_can_be_cancelled_at_once(
    thread: EngineThread, recorder: Recorder, loader: Loader
) -> None:
    loader.held["m"] = threading.Event()
    thread.send(LoadModel("m"))
    loader.has_begun.wait()
    for command in (submit("a", answers=2), submit("b"), Cancel("a")):
        thread.send(command)
    recorder.wait(Finished, count=2)
    assert endings(recorder.events) == [("a", "cancelled"), ("a", "cancelled")]
    loader.held["m"].set()
    recorder.wait(Finished, count=3)
    assert endings(recorder.events)[2:] == [("b", "length")]


def test_the_time_of_a_load_is_part_of_the_wait(thread: EngineThread, recorder: Recorder, loader: Loader) -> None:
    loader.held["m"] = threading.Event()
    thread.send(LoadModel("m"))
    thread.send(submit())
    sent_s = time.perf_counter()
    recorder.wait_for_phase(EnginePhase.LOADING, count=20)
    going_on_s = time.perf_counter()
    loader.held["m"].set()
    timings = recorder.wait(Finished).timings
    assert timings.ttft_ms >= timings.wait_ms >= 1e3 * (going_on_s - sent_s)


def test_a_refused_request_fails_and_the_next_is_served(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit("bad", temperature=-1.0))
    thread.send(submit("good"))
    recorder.wait(Finished)
    assert endings(recorder.events) == [("bad", "failed"), ("good", "length")]


def test_a_cancelled_request_ends(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=None))
    recorder.wait(TextDelta)
    thread.send(Cancel("r"))
    assert recorder.wait(Finished).reason is FinishReason.CANCELLED


def test_a_focus_that_is_set_early_is_kept_for_the_model(thread: EngineThread, recorder: Recorder) -> None:
    thread.send(SetFocus("c"))
    thread.send(LoadModel("m"))
    thread.send(submit())
    recorder.wait(Finished)
    assert endings(recorder.events) == [("r", "length")]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ModelFileError("It is no GGUF file.", "Choose another."), "It is no GGUF file."),
        (MemoryError(), "There is not enough free memory to load m.gguf."),
        (RuntimeError("CUDA out of memory"), "There is not enough free memory to load m.gguf."),
        (ValueError("odd"), "m.gguf could not be loaded (ValueError: odd)."),
    ],
)
def test_a_load_that_fails_is_a_sentence_and_the_thread_goes_on(
    thread: EngineThread, recorder: Recorder, loader: Loader, error: Exception, cause: str
) -> None:
    loader.errors["dir/m.gguf"] = error
    thread.send(LoadModel("dir/m.gguf"))
    assert recorder.wait(LoadFailed).cause == cause
    recorder.wait_for_phase(EnginePhase.EMPTY, count=2)
    thread.send(LoadModel("good"))
    recorder.wait_for_phase(EnginePhase.READY)


def test_a_newer_model_ends_the_load_of_an_older_one(thread: EngineThread, recorder: Recorder, loader: Loader) -> None:
    loader.held["old"] = threading.Event()
    thread.send(LoadModel("old"))
    loader.has_begun.wait()
    thread.send(submit())
    thread.send(LoadModel("new"))
    recorder.wait(Finished)
    assert [str(config.model_path) for config in loader.configs] == ["old", "new"]


@pytest.mark.parametrize("fault", [ModelFileError("It is no GGUF file.", "Choose another."), ValueError("odd")])
def test_a_file_that_cannot_be_a_model_costs_neither_the_model_nor_its_replies(
    thread: EngineThread, recorder: Recorder, loader: Loader, fault: Exception
) -> None:
    loader.faults["passwd"] = fault
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=200))
    recorder.wait(TextDelta)
    thread.send(LoadModel("passwd"))
    assert recorder.wait(LoadFailed).keeps_model
    recorder.wait(Finished)
    assert recorder.phases()[-1] is EnginePhase.READY
    assert endings(recorder.events) == [("r", "length")]


def test_a_model_that_fails_in_memory_says_that_the_last_one_had_to_go(
    thread: EngineThread, recorder: Recorder, loader: Loader
) -> None:
    loader.errors["large"] = MemoryError()
    thread.send(LoadModel("m"))
    recorder.wait_for_phase(EnginePhase.READY)
    thread.send(LoadModel("large"))
    failure = recorder.wait(LoadFailed)
    assert failure.cause.endswith("Tiny was closed to make room for it.")
    assert not failure.keeps_model


def test_a_new_model_ends_the_requests_of_the_last_one_for_a_reason_of_its_own(
    thread: EngineThread, recorder: Recorder
) -> None:
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=None))
    recorder.wait(TextDelta)
    thread.send(LoadModel("n"))
    recorder.wait_for_phase(EnginePhase.READY, count=2)
    assert endings(recorder.events) == [("r", "replaced")]


def test_shutdown_cancels_what_runs_and_stops(recorder: Recorder, loader: Loader) -> None:  # noqa: ARG001 - a patch
    thread = EngineThread(recorder.publish)
    thread.start()
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=None))
    recorder.wait(TextDelta)
    assert thread.stop(30)
    assert endings(recorder.events) == [("r", "cancelled")]
    assert recorder.events[-1] == EngineStatus(EnginePhase.STOPPED)


def test_shutdown_ends_a_load_and_the_requests_that_wait_for_it(recorder: Recorder, loader: Loader) -> None:
    loader.held["m"] = threading.Event()
    thread = EngineThread(recorder.publish)
    thread.start()
    thread.send(LoadModel("m"))
    loader.has_begun.wait()
    thread.send(submit(answers=2))
    assert thread.stop(30)
    assert endings(recorder.events) == [("r", "cancelled"), ("r", "cancelled")]


def test_a_mistake_that_nobody_foresaw_ends_the_requests_and_is_told(
    recorder: Recorder,
    loader: Loader,  # noqa: ARG001 - a patch
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Engine, "set_focus", lambda _engine, _chat_id: 1 / 0)
    thread = EngineThread(recorder.publish)
    thread.start()
    thread.send(LoadModel("m"))
    thread.send(submit(max_tokens=None))
    recorder.wait_for_phase(EnginePhase.STOPPED)
    assert endings(recorder.events) == [("r", "cancelled")]


def test_commands_after_shutdown_are_not_obeyed(recorder: Recorder, loader: Loader) -> None:
    thread = EngineThread(recorder.publish)
    thread.send(Shutdown())
    thread.send(LoadModel("m"))
    thread.start()
    assert thread.stop(30)
    assert loader.configs == []


def test_a_thread_that_never_started_can_be_stopped(recorder: Recorder) -> None:
    assert EngineThread(recorder.publish).stop(0.0)


def test_importing_the_thread_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, pagedesk.engine.thread; print(sorted({'torch', 'transformers', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
