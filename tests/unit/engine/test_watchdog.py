"""A step that does not end: when it is told, how often, and that it is told when it ended after all."""

from __future__ import annotations

import logging
import threading

import pytest

from pagedesk.engine import watchdog
from pagedesk.engine.watchdog import StepWatch, Watchdog, counted_s, stacks
from pagedesk.protocol import Event, Stalled

PATIENCE_S = 30.0


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def watch(events: list[Event]) -> StepWatch:
    return StepWatch(events.append)


def wait_a_minute(watch: StepWatch) -> None:
    for _ in range(60):
        watch.look(1.0)


def test_a_step_that_ends_in_time_is_not_told(watch: StepWatch, events: list[Event]) -> None:
    for _ in range(3):
        with watch.step(PATIENCE_S):
            for _ in range(29):
                watch.look(1.0)
    assert events == []


def test_time_between_steps_does_not_count(watch: StepWatch, events: list[Event]) -> None:
    wait_a_minute(watch)
    with watch.step(PATIENCE_S):
        watch.look(1.0)
    wait_a_minute(watch)
    assert events == []


def test_a_step_that_does_not_end_is_told_with_its_seconds_again_and_again(
    watch: StepWatch, events: list[Event]
) -> None:
    with watch.step(PATIENCE_S):
        for _ in range(45):
            watch.look(1.0)
        assert events == [Stalled(30), Stalled(35), Stalled(40), Stalled(45)]


def test_the_end_of_a_stall_is_told_once(watch: StepWatch, events: list[Event]) -> None:
    with watch.step(PATIENCE_S):
        wait_a_minute(watch)
    with watch.step(PATIENCE_S):
        watch.look(1.0)
    assert [event for event in events if event == Stalled(None)] == events[-1:]


def test_a_stall_ends_with_a_step_that_raises(watch: StepWatch, events: list[Event]) -> None:
    def fail() -> None:
        with watch.step(PATIENCE_S):
            wait_a_minute(watch)
            raise MemoryError

    with pytest.raises(MemoryError):
        fail()
    assert events[-1] == Stalled(None)


def test_what_the_threads_do_is_logged_once(watch: StepWatch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), watch.step(PATIENCE_S):
        wait_a_minute(watch)
    assert [record.getMessage().count("in test_what_the_threads_do_is_logged_once") for record in caplog.records] == [1]


def test_the_stacks_name_the_functions_of_every_thread() -> None:
    let_go, has_begun = threading.Event(), threading.Event()

    def hang_in_a_thread() -> None:
        has_begun.set()
        let_go.wait()

    thread = threading.Thread(target=hang_in_a_thread)
    thread.start()
    has_begun.wait()
    found = stacks()
    let_go.set()
    thread.join()
    assert "hang_in_a_thread" in found
    assert "test_the_stacks_name_the_functions_of_every_thread" in found


def test_the_thread_looks_until_it_is_stopped(
    watch: StepWatch, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "LOOK_S", 0.001)
    is_told = threading.Event()
    monkeypatch.setattr(watch, "_publish", lambda event: (events.append(event), is_told.set()))
    dog = Watchdog(watch)
    dog.start()
    with watch.step(0.01):
        assert is_told.wait(30)
    dog.stop()
    assert isinstance(events[0], Stalled)


def test_a_night_in_which_the_computer_slept_counts_as_two_looks() -> None:
    assert [counted_s(passed_s) for passed_s in (1.0, 1.5, 8 * 3600.0)] == [1.0, 1.5, 2.0]
