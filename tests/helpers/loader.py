"""Stands in for the loading of models: fake engines, errors, loads that go on, steps that begin when they may."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pagedesk.engine.batch import StepPlan, StepResult
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine
from tests.helpers.engines import BLOCK, fake_engine
from tests.helpers.recorder import PATIENCE_S

Progress = Callable[[str, int, int], None]


class Loader:
    """Stands in for `load_engine`: by path, a fake engine, an error, or a load that goes on until it is let go.

    And for `check_engine`, which finds the `faults`.
    """

    def __init__(self) -> None:
        self.faults: dict[str, BaseException] = {}
        self.errors: dict[str, BaseException] = {}
        self.held: dict[str, threading.Event] = {}
        self.has_begun = threading.Event()
        self.configs: list[EngineConfig] = []
        self.gate: Gate | None = None

    def check(self, config: EngineConfig) -> None:
        if str(config.model_path) in self.faults:
            raise self.faults[str(config.model_path)]

    def __call__(self, config: EngineConfig, on_progress: Progress) -> Engine:
        path = str(config.model_path)
        self.configs.append(config)
        self.has_begun.set()
        on_progress("weights", 0, 2)
        while path in self.held and not self.held[path].wait(0.001):
            on_progress("weights", 1, 2)
        if path in self.errors:
            raise self.errors[path]
        config = EngineConfig(config.model_path, block_size=BLOCK, max_batch_tokens=16)
        engine, runner = fake_engine(config=config)
        if self.gate is not None:
            runner.run = self.gate.around(runner.run)  # type: ignore[method-assign]
        return engine


class Gate:
    """Lets the steps of a runner begin one by one."""

    def __init__(self) -> None:
        self.num_begun = 0
        self._allowed = threading.Semaphore(0)
        self._changed = threading.Condition()

    def around(self, run: Callable[[StepPlan], StepResult]) -> Callable[[StepPlan], StepResult]:
        def wait_and_run(plan: StepPlan) -> StepResult:
            with self._changed:
                self.num_begun += 1
                self._changed.notify_all()
            assert self._allowed.acquire(timeout=PATIENCE_S)
            return run(plan)

        return wait_and_run

    def wait_for_step(self, number: int) -> None:
        """Wait until this step has begun."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.num_begun >= number, PATIENCE_S)

    def let_go(self, num_steps: int) -> None:
        self._allowed.release(num_steps)
