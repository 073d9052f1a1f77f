"""Collects the events of an engine thread and waits for the ones a test is about."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from pagedesk.protocol import EnginePhase, EngineStatus, Event

E = TypeVar("E")
PATIENCE_S = 30.0


class Recorder:
    """A reader of events; `publish` is called on the engine's thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._events: list[Event] = []

    def publish(self, event: Event) -> None:
        with self._condition:
            self._events.append(event)
            self._condition.notify_all()

    @property
    def events(self) -> list[Event]:
        with self._condition:
            return list(self._events)

    def wait(self, kind: type[E], is_it: Callable[[E], bool] = lambda _event: True, count: int = 1) -> E:
        """The event number `count` of this kind for which `is_it` holds."""

        def matches() -> list[E]:
            return [event for event in self._events if isinstance(event, kind) and is_it(event)]

        with self._condition:
            assert self._condition.wait_for(lambda: len(matches()) >= count, PATIENCE_S), f"no {kind} in {self._events}"
            return matches()[count - 1]

    def wait_for_phase(self, phase: EnginePhase, count: int = 1) -> None:
        self.wait(EngineStatus, lambda status: status.phase is phase, count)

    def phases(self) -> list[EnginePhase]:
        """The phases in order, repeats left out."""
        phases = [event.phase for event in self.events if isinstance(event, EngineStatus)]
        return [phase for index, phase in enumerate(phases) if index == 0 or phases[index - 1] is not phase]
