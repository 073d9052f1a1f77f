"""What goes wrong inside the engine: whose requests end, what stays whole, how long it is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.config import EngineConfig
from pagedesk.protocol import Failed
from tests.helpers.engines import BLOCK, endings, fake_engine, of_kind, run, submit


def test_a_row_of_nan_fails_its_request_and_no_other() -> None:
    engine, runner = fake_engine()
    engine.add(submit("a"))
    engine.add(submit("b"))
    runner.fault_if = lambda part: part.sequence_id == 0
    assert endings(run(engine)) == [("a", "failed"), ("b", "length")]


def test_a_step_that_raises_fails_the_requests_in_it_with_a_sentence() -> None:
    engine, runner = fake_engine()
    engine.add(submit())
    runner.raise_next = RuntimeError("the card fell off the bus")
    [failed] = of_kind(run(engine), Failed)
    assert failed.cause == "The engine failed in this step (RuntimeError: the card fell off the bus)."


def test_the_engine_serves_the_next_request_after_a_step_that_raised() -> None:
    engine, runner = fake_engine()
    engine.add(submit("a"))
    runner.raise_next = MemoryError()
    run(engine)
    engine.add(submit("b"))
    assert endings(run(engine)) == [("b", "length")]


def test_a_mistake_of_the_scheduler_fails_what_runs_and_empties_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = fake_engine()
    engine.add(submit("a"))
    engine.step()
    monkeypatch.setattr(engine._scheduler, "schedule", lambda: 1 / 0)
    events = engine.step()
    engine.add(submit("b"))
    assert endings([*events, *run(engine)]) == [("a", "failed"), ("b", "length")]


def test_the_counters_go_on_after_a_mistake_of_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = fake_engine()
    engine.add(submit("a", answers=3))
    run(engine)
    engine.add(submit("b"))
    engine.step()
    before = engine.snapshot()
    monkeypatch.setattr(engine._scheduler, "schedule", lambda: 1 / 0)
    engine.step()
    names = ("prompt_tokens", "cached_prompt_tokens", "generated_tokens", "num_copied_blocks", "peak_held_blocks")
    assert before.num_copied_blocks > 0
    assert [getattr(engine.snapshot(), name) for name in names] == [getattr(before, name) for name in names]


def test_a_prompt_that_is_cancelled_half_way_gives_its_blocks_back_and_is_not_computed_further() -> None:
    config = EngineConfig(Path("tiny.gguf"), block_size=BLOCK, max_batch_tokens=16)
    engine, runner = fake_engine(config=config)
    engine.add(submit("a", "x" * 100))
    engine.step()
    ended = endings(engine.cancel("a"))
    snapshot = engine.snapshot()
    assert (ended, engine.has_work, len(runner.plans)) == ([("a", "cancelled")], False, 1)
    assert (snapshot.num_owned, snapshot.num_free + snapshot.num_cached) == (0, 64)


def test_a_step_that_is_expected_to_take_long_is_given_more_time() -> None:
    now_s = 0.0

    def slow_token(_history: Sequence[int], _part: SequenceSlice) -> int:
        nonlocal now_s
        now_s += 20.0
        return 4 + ord("a")

    engine, _ = fake_engine(next_token=slow_token, clock=lambda: now_s)
    patience = [engine.patience_s]
    engine.add(submit())
    run(engine)
    assert [*patience, engine.patience_s] == [120.0, pytest.approx(200.0, rel=0.5)]
