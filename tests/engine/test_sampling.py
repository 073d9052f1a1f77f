"""What a request asks of sampling, through the whole engine: stops, limits, and what penalties look back on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine, load_engine
from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.sampling.repeated_runs import MAX_RUN
from pagedesk.protocol import DType, Finished, FinishReason, SamplingParams, Submit
from tests.helpers.engines import endings, fake_engine, letter, of_kind, run, submit, text_of, tokens_of
from tests.helpers.plain_sampler import counts, runs
from tests.helpers.tiny_gguf import write_tiny_gguf
from tests.helpers.tiny_vocabulary import IM_END

CONTEXT = 400
LOOKING_BACK = {"repetition_penalty": 1.1, "dry_multiplier": 0.8, "dry_allowed_length": 1}


def saying(text: str) -> Engine:
    """An engine whose every answer is this text, a letter at a time."""
    engine, _ = fake_engine(next_token=lambda _history, part: 4 + text.encode()[part.sample.draw_index])  # type: ignore[union-attr]
    return engine


# ---- stop strings


def test_an_answer_ends_before_its_stop_string() -> None:
    engine = saying("Hello user: more")
    engine.add(submit(max_tokens=16, stop=("user:",)))
    events = run(engine)
    assert (text_of(events), endings(events)) == ("Hello ", [("r", "stop")])


def test_the_tokens_of_a_stop_string_are_told() -> None:
    engine = saying("Hello user: more")
    engine.add(submit(max_tokens=16, stop=("user:",)))
    assert tokens_of(run(engine)) == tuple(4 + byte for byte in b"Hello user:")


def test_an_answer_that_is_stopped_holds_no_block() -> None:
    engine = saying("ab")
    engine.add(submit(stop=("b",)))
    run(engine)
    assert (engine.snapshot().num_owned, engine.snapshot().num_running) == (0, 0)


def test_half_a_stop_string_is_shown_when_the_stop_token_comes() -> None:
    ids = [4 + ord("u"), 4 + ord("s"), IM_END]
    engine, _ = fake_engine(next_token=lambda _history, part: ids[part.sample.draw_index])  # type: ignore[union-attr]
    engine.add(submit(stop=("user:",)))
    events = run(engine)
    assert (text_of(events), endings(events)) == ("us", [("r", "stop")])


def test_half_a_stop_string_is_shown_when_the_request_is_cancelled() -> None:
    engine = saying("user")
    engine.add(submit(max_tokens=None, stop=("user:",)))
    events = [*engine.step(), *engine.step()]
    assert (text_of(events), text_of(engine.cancel("r"))) == ("", "us")


def test_one_of_several_answers_stops_and_the_others_go_on() -> None:
    def next_token(_history: Sequence[int], part: SequenceSlice) -> int:
        assert part.sample is not None
        return 4 + ord("x" if part.sample.seed == 2 and part.sample.draw_index == 1 else "a")

    engine, _ = fake_engine(next_token=next_token)
    engine.add(submit(answers=3, stop=("x",)))
    events = run(engine)
    assert [text_of(events, answer_index=index) for index in range(3)] == ["aaaaaa", "a", "aaaaaa"]
    assert {e.answer_index: e.reason.value for e in of_kind(events, Finished)} == {0: "length", 1: "stop", 2: "length"}


def test_stop_strings_end_an_answer_that_passes_by_stop_tokens() -> None:
    engine = saying("abc")
    engine.add(submit(stop=("c",), ignore_eos=True))
    assert endings(run(engine)) == [("r", "stop")]


# ---- the context


def prompt_of(num_tokens: int, **options: int | None) -> Submit:
    return replace(submit(text="x" * num_tokens, **options), raw=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("num_prompt", [CONTEXT - 1, CONTEXT - 2, CONTEXT - 9])
def test_an_answer_without_a_limit_fills_the_context_exactly(num_prompt: int) -> None:
    engine, _ = fake_engine(num_blocks=200)
    engine.add(prompt_of(num_prompt, max_tokens=None))
    [finished] = of_kind(run(engine), Finished)
    assert (finished.usage.completion_tokens, finished.reason) == (CONTEXT - num_prompt, FinishReason.CONTEXT)


@pytest.mark.parametrize(
    ("max_tokens", "num_new", "reason"),
    [
        (4, 4, FinishReason.LENGTH),
        (5, 5, FinishReason.LENGTH),
        (6, 5, FinishReason.CONTEXT),
        (CONTEXT, 5, FinishReason.CONTEXT),
    ],
)
def test_an_answer_tells_its_own_limit_from_that_of_the_context(
    max_tokens: int, num_new: int, reason: FinishReason
) -> None:
    engine, _ = fake_engine(num_blocks=200)
    engine.add(prompt_of(CONTEXT - 5, max_tokens=max_tokens))
    [finished] = of_kind(run(engine), Finished)
    assert (finished.usage.completion_tokens, finished.reason) == (num_new, reason)


def test_a_prompt_that_leaves_no_room_for_an_answer_is_refused() -> None:
    engine, _ = fake_engine(num_blocks=200)
    with pytest.raises(
        InvalidRequestError, match="The prompt is 400 tokens, this model takes at most 400 with the answer"
    ):
        engine.add(prompt_of(CONTEXT))


def test_an_answer_ends_where_the_whole_pool_is_full() -> None:
    engine, _ = fake_engine(num_blocks=5)
    engine.add(prompt_of(12, max_tokens=None))
    [finished] = of_kind(run(engine), Finished)
    assert (finished.usage.completion_tokens, finished.reason) == (8, FinishReason.CONTEXT)


# ---- what penalties look back on


@pytest.mark.parametrize("window", [None, 3, 64])
def test_penalties_see_the_history_of_each_sequence_whoever_loses_a_turn(window: int | None) -> None:
    params = SamplingParams(**LOOKING_BACK, penalty_last_n=window, dry_penalty_last_n=window)  # type: ignore[arg-type]
    num_seen = 0

    def next_token(history: Sequence[int], part: SequenceSlice) -> int:
        nonlocal num_seen
        assert part.sample is not None
        assert part.sample.repetition is not None
        assert dict(part.sample.repetition.counts) == counts(history, window)
        assert dict(part.sample.repetition.runs) == runs(history, params, engine._prompts.table, MAX_RUN)
        num_seen += 1
        return 4 + ord("a") + letter(history, part) % 3

    engine, runner = fake_engine(num_blocks=20, next_token=next_token)
    windows = {"penalty_last_n": window, "dry_penalty_last_n": window}
    for index in range(4):
        text, answers = "abc" * (index + 1), 1 + index % 2
        engine.add(submit(f"r{index}", text, max_tokens=24, answers=answers, **LOOKING_BACK, **windows))
    assert len(endings(run(engine))) == 6
    samples = [(part.sample.draw_index, len(part.token_ids)) for p in runner.plans for part in p.slices if part.sample]
    assert num_seen == len(samples) == 6 * 24
    assert any(draw_index > 0 and num_tokens > 1 for draw_index, num_tokens in samples), "none has lost its turn"


def test_a_request_without_penalties_carries_no_history() -> None:
    engine, runner = fake_engine()
    engine.add(submit(top_n_sigma=1.0, logit_bias=((5, 1.0),)))
    run(engine)
    assert {part.sample.repetition for plan in runner.plans for part in plan.slices if part.sample} == {None}


# ---- a real model


@pytest.fixture
def tiny_engine(tmp_path: Path) -> Engine:
    config = EngineConfig(write_tiny_gguf(tmp_path / "tiny.gguf"), DType.FLOAT32, "cpu", num_blocks=200)
    return load_engine(config, lambda *_: None)


KINDS: list[dict[str, object]] = [
    {},
    {"temperature": 0.0, "repetition_penalty": 1.5, "penalty_last_n": None},
    {"temperature": 1.2, "dry_multiplier": 0.9, "dry_allowed_length": 1, "typical_p": 0.8},
    {"top_k": 0, "top_n_sigma": 1.5, "xtc_probability": 0.5, "xtc_threshold": 0.02},
    {"presence_penalty": 1.0, "frequency_penalty": 0.5, "logit_bias": ((40, 5.0), (50, -100.0)), "top_k": 0},
    {"temperature": 0.0, "xtc_probability": 1.0, "xtc_threshold": 0.001, "min_p": 0.0},
]


def test_every_kind_of_sampling_says_the_same_alone_and_together(tiny_engine: Engine) -> None:
    asked = [submit(f"r{i}", "Say it", max_tokens=40, **{"seed": i, **kind}) for i, kind in enumerate(KINDS)]
    for one in asked:
        tiny_engine.add(one)
    together = run(tiny_engine)
    for one in asked:
        tiny_engine.add(one)
        assert tokens_of(run(tiny_engine), one.request_id) == tokens_of(together, one.request_id)


def test_a_penalty_keeps_a_model_from_saying_a_token_twice(tiny_engine: Engine) -> None:
    tiny_engine.add(submit(max_tokens=60, temperature=0.0))
    tiny_engine.add(submit("penalised", max_tokens=60, temperature=0.0, repetition_penalty=10.0, penalty_last_n=None))
    events = run(tiny_engine)
    plain, penalised = tokens_of(events), tokens_of(events, "penalised")
    assert len(set(plain)) < len(plain) == 60
    assert len(set(penalised)) == len(penalised)


def test_a_stop_string_is_found_in_what_a_model_says(tiny_engine: Engine) -> None:
    asked = submit(max_tokens=60, seed=3, temperature=1.5, ignore_eos=True)
    tiny_engine.add(asked)
    whole = text_of(run(tiny_engine))
    stop = whole[10:13]
    tiny_engine.add(replace(asked, sampling=replace(asked.sampling, stop=(stop,))))
    events = run(tiny_engine)
    assert (text_of(events), endings(events)) == (whole[: whole.index(stop)], [("r", "stop")])
