"""What `bench decode` counts, on an engine whose steps take a second each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pagedesk.commands.bench import decode
from pagedesk.engine.config import EngineConfig
from tests.helpers.engines import BLOCK, fake_engine

Measure = Callable[[int, int], decode.DecodeRow]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """A row for a batch and a number of new tokens; prompts have 8 tokens, of which a step computes 8 in all."""

    def measure(batch: int, num_new: int) -> decode.DecodeRow:
        engine, runner = fake_engine(config=EngineConfig(Path("tiny.gguf"), block_size=BLOCK, max_batch_tokens=8))
        monkeypatch.setattr(decode, "FIRST_PROMPT_TOKEN", 100)
        monkeypatch.setattr(decode.time, "perf_counter", lambda: float(len(runner.plans)))
        return decode.DecodeRun(engine, "test", batch, 8, num_new).measure()

    return measure


def test_tokens_that_come_while_others_have_their_prompt_computed_are_not_in_the_decode_rate(measure: Measure) -> None:
    """The first sequence has three tokens when the second gets its first; six are left for four steps."""
    row = measure(2, 5)
    assert (row.prefill_tokens_per_s, row.decode_tokens_per_s, row.step_ms) == (16 / 3, 6 / 4, 1000.0)


def test_one_new_token_leaves_nothing_to_decode(measure: Measure) -> None:
    row = measure(1, 1)
    assert (row.prefill_tokens_per_s, row.decode_tokens_per_s, row.step_ms) == (8.0, 0.0, 0.0)


def test_answers_that_end_before_the_last_prompt_is_computed_are_not_waited_for(measure: Measure) -> None:
    assert measure(4, 2).decode_tokens_per_s == 1.0
