"""A caller that waits: the same engine thread as the window's, driven from the command line.

Owns the thread; used from one thread only.
"""

from __future__ import annotations

import queue
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType

from pagedesk.commands.progress import print_dropped
from pagedesk.engine.thread import EngineThread
from pagedesk.protocol import (
    Cancel,
    EnginePhase,
    EngineStatus,
    Event,
    Failed,
    Finished,
    LoadFailed,
    LoadModel,
    ModelReady,
    PoolSnapshot,
    Submit,
    TextDelta,
    TurnsDropped,
)
from pagedesk.system.errors import UserError

STOP_TIMEOUT_S = 3.0

OnDelta = Callable[[TextDelta], None]
OnStatus = Callable[[EngineStatus], None]


@dataclass(slots=True)
class Answer:
    """One answer as it grows; `finished` is set when it ended."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    finished: Finished | None = None

    @property
    def finish(self) -> Finished:
        """How it ended.

        Raises:
            ValueError: it has not ended yet.
        """
        if self.finished is None:
            raise ValueError("the answer has not ended")
        return self.finished


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """A second Ctrl+C must not break off the end that the first one began."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


class EngineClient:
    """Load a model, ask, wait for the answers; a context manager that ends the engine thread.

    Attributes:
        snapshot: The newest one.
        dropped: What was left out of the newest prompt, if anything was.
    """

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._thread = EngineThread(self._events.put)
        self._thread.start()
        self.snapshot: PoolSnapshot | None = None
        self.dropped: TurnsDropped | None = None

    def __enter__(self) -> EngineClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _deaf_to_interrupts():
            self._thread.stop(STOP_TIMEOUT_S)

    def load(self, command: LoadModel, on_status: OnStatus) -> ModelReady:
        """Load a model.

        Raises:
            UserError: with the engine's own cause and advice.
        """
        self._thread.send(command)
        while True:
            match self._events.get():
                case ModelReady() as ready:
                    return ready
                case LoadFailed(cause=cause, advice=advice):
                    raise UserError(cause, advice)
                case EngineStatus(phase=EnginePhase.STOPPED):
                    raise UserError("The engine stopped while it loaded the model.", "Look into the log file.")
                case EngineStatus() as status:
                    on_status(status)
                case _:
                    pass

    def ask(self, submit: Submit, on_delta: OnDelta) -> list[Answer]:
        """Ask and wait until every answer ended and the engine rests; Ctrl+C stops the request, not the program.

        What is left out of the prompt is told on the error stream.

        Raises:
            UserError: the request failed; with the engine's own cause and advice.
        """
        answers: defaultdict[int, Answer] = defaultdict(Answer)
        self.dropped = None
        self._thread.send(submit)
        while sum(answer.finished is not None for answer in answers.values()) < max(submit.num_answers, 1):
            try:
                self._note(self._events.get(), submit, answers, on_delta)
            except KeyboardInterrupt:
                self._thread.send(Cancel(submit.request_id))
        self._await_rest()
        return [answers[index] for index in range(submit.num_answers)]

    def _note(self, event: Event, submit: Submit, answers: dict[int, Answer], on_delta: OnDelta) -> None:
        match event:
            case TurnsDropped(request_id=submit.request_id):
                self.dropped = event
                print_dropped(event)
            case TextDelta(request_id=submit.request_id, answer_index=index):
                answers[index].text += event.text
                answers[index].token_ids += event.token_ids
                on_delta(event)
            case Finished(request_id=submit.request_id, answer_index=index):
                answers[index].finished = event
            case Failed(request_id=submit.request_id, cause=cause, advice=advice):
                raise UserError(cause, advice)
            case PoolSnapshot():
                self.snapshot = event
            case EngineStatus(phase=EnginePhase.STOPPED):
                raise UserError("The engine stopped while it answered.", "Look into the log file.")
            case _:
                pass

    def _await_rest(self) -> None:
        """The engine publishes a snapshot when it has nothing left to do: only that one has the final counters."""
        while True:
            event = self._events.get()
            if isinstance(event, PoolSnapshot):
                self.snapshot = event
                if not event.num_running and not event.num_waiting:
                    return
