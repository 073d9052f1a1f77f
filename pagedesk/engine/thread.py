"""The thread that the engine lives on: commands in, events out, messages only.

`send` may be called from any thread and never waits; everything else happens on the engine's own thread, which drains
its commands between two steps and sleeps on them when there is nothing to compute. torch is imported there, with the
first model. Nothing that a command or a model does ends the thread, except `Shutdown`.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from pagedesk.engine.config import MAX_NUM_SEQUENCES, EngineConfig
from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.request_check import check_num_answers
from pagedesk.engine.watchdog import StepWatch, Watchdog
from pagedesk.protocol import (
    Cancel,
    Command,
    EnginePhase,
    EngineStatus,
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadFailed,
    LoadModel,
    ModelReady,
    SetFocus,
    Shutdown,
    Submit,
    Timings,
    Usage,
)
from pagedesk.system.errors import UserError
from pagedesk.system.quiet_imports import quiet_imports

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

SNAPSHOT_INTERVAL_S = 0.1
IDLE_SNAPSHOT_INTERVAL_S = 2.0
"""With nothing to compute the pool stands still, but other programs take and give memory."""

_LAST_IMPORT = "pagedesk.engine.model_runner"

_Sent: TypeAlias = tuple[Command, float]
"""A command and when it was sent, by `time.perf_counter`."""

_log = logging.getLogger(__name__)


class EngineThread:
    """A running engine, seen from outside.

    Args:
        publish: Takes each event, on the engine's thread; must not block.
    """

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._commands: SimpleQueue[_Sent] = SimpleQueue()
        self._thread = threading.Thread(target=_Loop(self._commands, publish).run, name="engine", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread; no model is loaded yet."""
        self._thread.start()

    def send(self, command: Command) -> None:
        """Hand over a command."""
        self._commands.put((command, time.perf_counter()))

    def stop(self, timeout_s: float) -> bool:
        """Send `Shutdown` and wait for the end of the thread; True if it ended in time."""
        self.send(Shutdown())
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()


class _Interrupted(BaseException):
    """Raised inside a load that nobody wants any more."""


class _Loop:
    """What runs on the engine's thread."""

    def __init__(self, commands: SimpleQueue[_Sent], publish: Callable[[Event], None]) -> None:
        self._commands = commands
        self._publish = publish
        self._backlog: deque[_Sent] = deque()
        self._engine: Engine | None = None
        self._focus: str | None = None
        self._is_ending = False
        self._snapshot_due_s = 0.0
        self._watch = StepWatch(publish)

    def run(self) -> None:
        watchdog = Watchdog(self._watch)
        watchdog.start()
        try:
            self._serve()
        finally:
            watchdog.stop()

    def _serve(self) -> None:
        self._publish(EngineStatus(EnginePhase.STARTING))
        self._publish(EngineStatus(EnginePhase.EMPTY))
        try:
            while not self._is_ending:
                self._turn()
        except Exception:  # noqa: BLE001 - a mistake of ours: whoever waits must learn that nothing more will come
            _log.exception("the engine's thread cannot go on")
        self._end()

    def _turn(self) -> None:
        sent = self._next_command()
        if sent is not None:
            self._obey(*sent)
        elif self._engine is not None:
            self._advance(self._engine)

    @property
    def _has_work(self) -> bool:
        return self._engine is not None and self._engine.has_work

    def _next_command(self) -> _Sent | None:
        """The next command; None if there is a step to compute instead, or a loaded model has been idle for a while."""
        if self._backlog:
            return self._backlog.popleft()
        patience_s = None if self._engine is None else IDLE_SNAPSHOT_INTERVAL_S
        try:
            return self._commands.get(block=not self._has_work, timeout=patience_s)
        except Empty:
            return None

    def _obey(self, command: Command, sent_s: float) -> None:
        match command:
            case LoadModel():
                self._load(command)
            case Submit():
                self._submit(command, sent_s)
            case Cancel(request_id):
                self._cancel(request_id)
            case SetFocus(chat_id):
                self._set_focus(chat_id)
            case Shutdown():
                self._is_ending = True

    def _advance(self, engine: Engine) -> None:
        if engine.has_work:
            with self._watch.step(engine.patience_s):
                events = engine.step()
            self._publish_all(events)
        if not engine.has_work or time.monotonic() >= self._snapshot_due_s:
            self._publish_snapshot(engine)

    # Requests.

    def _submit(self, submit: Submit, sent_s: float) -> None:
        if self._engine is None:
            self._fail(submit, "No model is loaded.", "Choose a model, then send the message again.")
            return
        if self._engine.is_under_way(submit.request_id):
            # To fail it would end the first request of this name, for whoever asked that.
            _log.warning("request %s is under way; the second one of this name is ignored", submit.request_id)
            return
        try:
            self._publish_all(self._engine.add(submit, sent_s))
        except UserError as error:
            self._fail(submit, error.cause, error.advice)
        except Exception as error:  # noqa: BLE001 - one request must not end the thread
            _log.exception("request %s failed", submit.request_id)
            self._fail(submit, f"The request could not be read ({type(error).__name__}: {error}).", "Send it again.")

    def _fail(self, submit: Submit, cause: str, advice: str) -> None:
        self._publish(Failed(submit.request_id, cause, advice))

    def _cancel(self, request_id: str) -> None:
        if self._engine is None:
            return
        self._publish_all(self._engine.cancel(request_id))
        if not self._engine.has_work:
            self._publish_snapshot(self._engine)

    def _set_focus(self, chat_id: str | None) -> None:
        self._focus = chat_id
        if self._engine is not None:
            self._engine.set_focus(chat_id)

    # Models.

    def _load(self, command: LoadModel) -> None:
        """Take another model in place of the one that is loaded, which stays if it can be told that the other fails."""
        config = _config_of(command)
        replaced = self._engine.info.name if self._engine is not None else None
        try:
            if self._engine is not None:
                self._check(config)
                self._close_engine(FinishReason.REPLACED)
            engine = self._load_engine(config)
        except _Interrupted:
            self._bring_forward()
        except UserError as error:
            self._report_failed_load(command, error.cause, error.advice, replaced)
        except Exception as error:  # noqa: BLE001 - no file may end the thread
            _log.exception("loading failed")
            self._report_failed_load(command, *_explain(command, error), replaced)
        else:
            self._engine = engine
            engine.set_focus(self._focus)
            self._publish(ModelReady(engine.info, engine.memory))
            self._publish_ready(engine)

    def _check(self, config: EngineConfig) -> None:
        from pagedesk.engine.engine import check_engine  # noqa: PLC0415 - only here, so the window paints first

        check_engine(config)

    def _load_engine(self, config: EngineConfig) -> Engine:
        self._on_progress("engine", 0, 0)
        self._import_engine()
        from pagedesk.engine.engine import load_engine  # noqa: PLC0415 - only here, so the window paints first

        return load_engine(config, self._on_progress)

    def _import_engine(self) -> None:
        """Import what takes seconds, once, while the window goes on painting."""
        if _LAST_IMPORT in sys.modules:
            return
        with quiet_imports():
            from pagedesk.engine.text.tokenizer import import_converter  # noqa: PLC0415 - slow to import, like what it imports

            import_converter()
            self._on_progress("engine", 0, 0)
            importlib.import_module(_LAST_IMPORT)

    def _on_progress(self, stage: str, done: int, total: int) -> None:
        self._drain()
        if any(_is_urgent(sent) for sent in self._backlog):
            raise _Interrupted
        self._publish(EngineStatus(EnginePhase.LOADING, stage, done, total))

    def _drain(self) -> None:
        """Take in what was sent meanwhile; a request that is cancelled before it begins ends here."""
        while not self._commands.empty():
            sent = self._commands.get()
            if isinstance(sent[0], Cancel):
                self._withdraw(sent[0].request_id)
            self._backlog.append(sent)

    def _withdraw(self, request_id: str) -> None:
        for sent in list(self._backlog):
            if isinstance(sent[0], Submit) and sent[0].request_id == request_id:
                self._backlog.remove(sent)
                self._publish_all(_never_begun(sent[0]))

    def _bring_forward(self) -> None:
        """Let what ended a load come next: the end, or the newest model; requests wait for that model."""
        urgent = [sent for sent in self._backlog if _is_urgent(sent)]
        others = [sent for sent in self._backlog if not _is_urgent(sent)]
        ends = [sent for sent in urgent if isinstance(sent[0], Shutdown)]
        self._backlog = deque([*(ends[:1] or urgent[-1:]), *others])

    def _report_failed_load(self, command: LoadModel, cause: str, advice: str, replaced: str | None) -> None:
        """Say why; `replaced` names the model before, which lives on unless it had to make room already."""
        kept = self._engine
        if replaced is not None and kept is None:
            cause = f"{cause} {replaced} was closed to make room for it."
        self._publish(LoadFailed(command.path, cause, advice, keeps_model=kept is not None))
        if kept is None:
            self._publish(EngineStatus(EnginePhase.EMPTY))
        else:
            self._publish_ready(kept)

    def _publish_ready(self, engine: Engine) -> None:
        self._publish(EngineStatus(EnginePhase.READY))
        self._publish_snapshot(engine)

    def _close_engine(self, reason: FinishReason) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            self._publish_all(engine.close(reason))

    # Telling.

    def _publish_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._publish(event)

    def _publish_snapshot(self, engine: Engine) -> None:
        self._publish(engine.snapshot())
        self._snapshot_due_s = time.monotonic() + SNAPSHOT_INTERVAL_S

    def _end(self) -> None:
        self._close_engine(FinishReason.CANCELLED)
        self._drain()
        for command, _ in self._backlog:
            if isinstance(command, Submit):
                self._publish_all(_never_begun(command))
        self._publish(EngineStatus(EnginePhase.STOPPED))


def _config_of(command: LoadModel) -> EngineConfig:
    return EngineConfig(
        model_path=Path(command.path),
        dtype=command.dtype,
        budget_bytes=command.budget_bytes,
        num_blocks=command.num_blocks,
        max_model_len=command.max_model_len,
    )


def _is_urgent(sent: _Sent) -> bool:
    """Whether it ends a load that is under way."""
    return isinstance(sent[0], Shutdown | LoadModel)


def _never_begun(submit: Submit) -> Iterable[Finished | Failed]:
    try:
        check_num_answers(submit.num_answers, MAX_NUM_SEQUENCES)
    except InvalidRequestError as error:
        yield Failed(submit.request_id, error.cause, error.advice)
        return
    for index in range(submit.num_answers):
        usage, timings = Usage(0, 0, 0, 0), Timings(0.0, 0.0, 0.0, 0.0, 0.0)
        yield Finished(submit.request_id, index, FinishReason.CANCELLED, usage, timings)


def _explain(command: LoadModel, error: Exception) -> tuple[str, str]:
    """Cause and advice for an error that the loader did not foresee."""
    name = Path(command.path).name
    if isinstance(error, MemoryError) or "memory" in str(error).lower():
        return f"There is not enough free memory to load {name}.", "Close other programs, or choose a smaller model."
    cause = f"{name} could not be loaded ({type(error).__name__}: {error})."
    return cause, "Choose another file; if this one works elsewhere, please report it with the log."
