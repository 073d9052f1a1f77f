"""The bridge: commands of the window go down to an engine, its events come up as Qt signals.

Lives on the GUI thread; only `_post` is called on the engine's thread. The one file that knows Qt and the engine.
Deliveries are at most one a frame: neighbouring text of one answer comes joined, and only the newest snapshot comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance

from pagedesk.protocol import (
    Command,
    EnginePhase,
    EngineStatus,
    Event,
    Failed,
    Finished,
    LoadFailed,
    ModelReady,
    PoolSnapshot,
    Stalled,
    Started,
    TextDelta,
    TurnsDropped,
    Waiting,
)
from pagedesk.system.mailbox import Mailbox

FRAME_MS = 16


class EngineLike(Protocol):
    """What the bridge needs of an engine thread."""

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""

    def start(self) -> None:
        """Begin to work on what was sent."""

    def send(self, command: Command) -> None:
        """Hand over a command; never waits."""

    def stop(self, timeout_s: float) -> bool:
        """End it; True if it ended in time."""


class EngineBridge(QObject):
    """One engine, as seen from the window.

    Args:
        make_engine: Builds the engine around the function that it publishes its events with.
    """

    status_changed = Signal(object)
    stalled = Signal(object)
    model_ready = Signal(object)
    load_failed = Signal(object)
    turns_dropped = Signal(object)
    request_started = Signal(object)
    request_waiting = Signal(object)
    text_delta = Signal(object)
    request_finished = Signal(object)
    request_failed = Signal(object)
    pool_changed = Signal(object)
    _woken = Signal()

    def __init__(self, make_engine: Callable[[Callable[[Event], None]], EngineLike]) -> None:
        super().__init__()
        self._mailbox: Mailbox[Event] = Mailbox(self._woken.emit)
        self._woken.connect(self._schedule, Qt.ConnectionType.QueuedConnection)
        self._frame = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._frame.timeout.connect(self.deliver)
        self._delivered_at = 0.0
        self._signals = self._signal_table()
        self._engine = make_engine(self._mailbox.post)

    def start(self) -> None:
        """Start the engine; what was sent before is worked on first."""
        self._engine.start()

    @property
    def is_alive(self) -> bool:
        """Whether the engine runs."""
        return self._engine.is_alive

    def send(self, command: Command) -> None:
        """Hand a command to the engine; returns at once."""
        self._engine.send(command)

    def stop(self, timeout_s: float) -> bool:
        """End the engine and deliver its last events; True if it ended in time."""
        ended = not self._engine.is_alive or self._engine.stop(timeout_s)
        self.deliver()
        return ended

    def deliver(self) -> None:
        """Emit everything that waits in the mailbox now."""
        self._frame.stop()
        self._delivered_at = time.monotonic()
        for event in join_events(self._mailbox.collect()):
            self._signals[type(event)].emit(event)

    def _schedule(self) -> None:
        since_ms = (time.monotonic() - self._delivered_at) * 1000
        self._frame.start(max(0, round(FRAME_MS - since_ms)))

    def _signal_table(self) -> dict[type, SignalInstance]:
        return {
            EngineStatus: self.status_changed,
            Stalled: self.stalled,
            ModelReady: self.model_ready,
            LoadFailed: self.load_failed,
            TurnsDropped: self.turns_dropped,
            Started: self.request_started,
            Waiting: self.request_waiting,
            TextDelta: self.text_delta,
            Finished: self.request_finished,
            Failed: self.request_failed,
            PoolSnapshot: self.pool_changed,
        }


def join_events(events: Sequence[Event]) -> list[Event]:
    """The same story in fewer events: deltas of one answer joined, only the newest snapshot kept.

    The order within a request is kept; deltas of different requests may change places. A snapshot of a pool that was
    given up since is left out.
    """
    joined: list[Event | _Deltas] = []
    open_deltas: dict[str, dict[int, _Deltas]] = {}
    snapshot: PoolSnapshot | None = None
    for event in events:
        if isinstance(event, PoolSnapshot):
            snapshot = event
        elif isinstance(event, TextDelta):
            answers = open_deltas.setdefault(event.request_id, {})
            if event.answer_index not in answers:
                answers[event.answer_index] = _Deltas()
                joined.append(answers[event.answer_index])
            answers[event.answer_index].deltas.append(event)
        else:
            if isinstance(event, Started | Waiting | Finished | Failed):
                open_deltas.pop(event.request_id, None)
            elif isinstance(event, EngineStatus) and event.phase is not EnginePhase.READY:
                snapshot = None
            joined.append(event)
    whole = [item.join() if isinstance(item, _Deltas) else item for item in joined]
    return whole if snapshot is None else [*whole, snapshot]


class _Deltas:
    """Neighbouring deltas of one answer."""

    def __init__(self) -> None:
        self.deltas: list[TextDelta] = []

    def join(self) -> TextDelta:
        if len(self.deltas) == 1:
            return self.deltas[0]
        text = "".join(delta.text for delta in self.deltas)
        token_ids = tuple(token_id for delta in self.deltas for token_id in delta.token_ids)
        return replace(self.deltas[0], text=text, token_ids=token_ids)
