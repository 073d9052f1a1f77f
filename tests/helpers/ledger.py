"""Keeps every event of an engine on its thread, and knows which requests have not ended."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from pagedesk.protocol import Event, Failed, Finished, PoolSnapshot, Submit

PATIENCE_S = 120.0


class Ledger:
    """Every event of the engine, and which requests have not ended."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = threading.Condition()
        self._num_open: Counter[str] = Counter()

    def publish(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            if isinstance(event, Finished):
                self._num_open[event.request_id] -= 1
            elif isinstance(event, Failed):
                self._num_open[event.request_id] = 0
            self._changed.notify_all()

    def expect(self, submit: Submit) -> None:
        with self._changed:
            self._num_open[submit.request_id] = submit.num_answers

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_S), "the engine is stuck"

    def open_requests(self) -> list[str]:
        return [request_id for request_id, count in self._num_open.items() if count > 0]

    def is_at_rest(self) -> bool:
        last = self.events[-1]
        return isinstance(last, PoolSnapshot) and not (self.open_requests() or last.num_running or last.num_waiting)
