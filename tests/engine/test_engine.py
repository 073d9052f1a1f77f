"""Requests in, events out: what a sender sees, whatever happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.errors import InvalidRequestError, TemplateError
from pagedesk.protocol import (
    BlockState,
    Constraint,
    Finished,
    FinishReason,
    Message,
    MissReason,
    Role,
    Started,
    Submit,
    TextDelta,
    TextPart,
    Timings,
    Usage,
    Waiting,
)
from tests.helpers.engines import endings, fake_engine, of_kind, run, submit, text_of, tokens_of
from tests.helpers.tiny_vocabulary import IM_END

LAST_IN_CAPITALS = "{% for m in messages %}{{ m['content'] | upper if loop.last else m['content'] }}{% endfor %}"


def test_a_request_is_started_told_and_finished() -> None:
    engine, _ = fake_engine()
    engine.add(submit())
    events = run(engine)
    assert [type(event) for event in events] == [Started, *[TextDelta] * 6, Finished]


def test_usage_tells_prompt_cached_and_new_tokens() -> None:
    engine, _ = fake_engine()
    engine.add(submit("first"))
    run(engine)
    engine.add(submit("second"))
    [finished] = of_kind(run(engine), Finished)
    prompt_tokens = finished.usage.prompt_tokens
    assert finished.usage == Usage(prompt_tokens, prompt_tokens - 1, 6, prompt_tokens - 1)


def test_usage_tells_where_an_edited_prompt_missed() -> None:
    engine, _ = fake_engine()
    engine.add(submit("first", "abcdef"))
    run(engine)
    engine.add(submit("second", "abcxef"))
    [finished] = of_kind(run(engine), Finished)
    place = len("<u\nabc")
    assert (finished.usage.first_missed_index, finished.usage.miss_reason) == (place, MissReason.EDITED)


def test_usage_tells_of_a_template_that_changes_what_it_wrote() -> None:
    engine, _ = fake_engine(template=LAST_IN_CAPITALS)
    engine.add(submit(text="hello"))
    events = run(engine)
    reply = Message(Role.ASSISTANT, (TextPart(text_of(events)),), tokens_of(events))
    engine.add(submit("second", "more", history=[Message.of(Role.USER, "hello"), reply]))
    [finished] = of_kind(run(engine), Finished)
    assert (finished.usage.first_missed_index, finished.usage.miss_reason) == (0, MissReason.TEMPLATE)


def test_times_are_those_of_the_steps() -> None:
    now_s = 100.0

    def next_token(_history: Sequence[int], _part: SequenceSlice) -> int:
        nonlocal now_s
        now_s += 0.5
        return 4 + ord("a")

    engine, _ = fake_engine(next_token=next_token, clock=lambda: now_s)
    engine.add(submit(max_tokens=5))
    now_s += 2
    [finished] = of_kind(run(engine), Finished)
    assert finished.timings == Timings(
        wait_ms=2000.0, prefill_ms=500.0, ttft_ms=2500.0, decode_ms=2000.0, decode_tokens_per_s=2.0
    )


def test_the_stop_token_ends_the_text_and_is_among_the_ids() -> None:
    engine, _ = fake_engine(next_token=lambda _history, part: [4 + ord("a"), IM_END][part.sample.draw_index])
    engine.add(submit())
    events = run(engine)
    assert (text_of(events), tokens_of(events)[-1], endings(events)) == ("a", IM_END, [("r", "stop")])


def test_a_character_of_three_tokens_appears_whole() -> None:
    letters = [4 + byte for byte in "日a".encode()]
    engine, _ = fake_engine(next_token=lambda _history, part: letters[part.sample.draw_index])
    engine.add(submit(max_tokens=4))
    assert [delta.text for delta in of_kind(run(engine), TextDelta)] == ["", "", "日", "a"]


def test_what_is_held_back_comes_with_the_last_token() -> None:
    engine, _ = fake_engine(next_token=lambda _history, _part: 4 + ord("a"))
    engine.add(submit(max_tokens=1, stop=("ab",)))
    assert of_kind(run(engine), TextDelta)[-1].text == "a"


def test_a_character_that_the_limit_cuts_off_is_not_shown() -> None:
    engine, _ = fake_engine(next_token=lambda _history, _part: 4 + 0xE6)
    engine.add(submit(max_tokens=1))
    assert text_of(run(engine)) == ""


def test_the_next_turn_computes_only_what_is_new() -> None:
    engine, runner = fake_engine()
    engine.add(submit())
    events = run(engine)
    reply = Message(Role.ASSISTANT, (TextPart(text_of(events)),), tokens_of(events))
    before = runner.num_computed_tokens
    engine.add(submit("next", "more", history=[Message.of(Role.USER, "hi"), reply], max_tokens=1))
    [finished] = of_kind(run(engine), Finished)
    new_tokens = finished.usage.prompt_tokens - finished.usage.cached_tokens
    assert runner.num_computed_tokens - before == new_tokens < len("<|im_end|>\n user\nmore assistant\n") + 4


def test_a_seed_gives_the_same_text_again() -> None:
    engine, _ = fake_engine()
    engine.add(submit("a", seed=5, temperature=1.0))
    engine.add(submit("b", seed=5, temperature=1.0))
    events = run(engine)
    assert text_of(events, "a") == text_of(events, "b")


def test_without_a_seed_each_request_draws_its_own() -> None:
    engine, runner = fake_engine()
    engine.add(submit("a", seed=None))
    engine.add(submit("b", seed=None))
    run(engine)
    seeds = {part.sample.seed for plan in runner.plans for part in plan.slices if part.sample}
    assert len(seeds) == 2


def test_n_answers_have_one_start_and_n_ends() -> None:
    engine, _ = fake_engine()
    engine.add(submit(answers=3))
    events = run(engine)
    assert (len(of_kind(events, Started)), [e.answer_index for e in of_kind(events, Finished)]) == (1, [0, 1, 2])


def test_a_request_that_waits_for_blocks_is_told() -> None:
    engine, _ = fake_engine(num_blocks=20)
    engine.add(submit("a", "x" * 40))
    engine.add(submit("b", "y" * 40))
    assert [event.request_id for event in of_kind(run(engine), Waiting)] == ["b"]


def test_a_cancelled_request_ends_and_keeps_what_it_said() -> None:
    engine, _ = fake_engine()
    engine.add(submit(max_tokens=None))
    engine.step()
    engine.step()
    [finished] = engine.cancel("r")
    assert (finished.reason, finished.usage.completion_tokens) == (FinishReason.CANCELLED, 2)


def test_a_cancelled_request_holds_no_block() -> None:
    engine, _ = fake_engine()
    engine.add(submit(answers=2))
    engine.step()
    engine.cancel("r")
    snapshot = engine.snapshot()
    assert (snapshot.num_owned, snapshot.num_shared, engine.has_work) == (0, 0, False)


def test_an_unknown_request_is_not_cancelled() -> None:
    engine, _ = fake_engine()
    assert engine.cancel("nobody") == []


def test_a_closed_engine_has_cancelled_everything_and_closed_its_model() -> None:
    engine, runner = fake_engine()
    engine.add(submit("a"))
    engine.add(submit("b"))
    assert (endings(engine.close()), runner.is_closed) == ([("a", "cancelled"), ("b", "cancelled")], True)


def test_a_model_that_cannot_be_closed_still_ends_its_requests() -> None:
    engine, runner = fake_engine()
    engine.add(submit())
    runner.close = lambda: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    assert endings(engine.close()) == [("r", "cancelled")]


def test_raw_requests_pass_by_the_template() -> None:
    engine, runner = fake_engine(template="{{ raise_exception('no') }}")
    engine.add(replace(submit(text="abc", max_tokens=1), raw=True))
    run(engine)
    assert runner.plans[0].slices[0].token_ids == tuple(4 + ord(c) for c in "abc")


# ---- refusals


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"temperature": math.nan}, "Temperature is nan; it must be from 0.0 to 100.0."),
        ({"temperature": -1.0}, "Temperature is -1.0; it must be from 0.0 to 100.0."),
        ({"temperature": math.inf}, "Temperature is inf; it must be from 0.0 to 100.0."),
        ({"top_k": -1}, "Top-k is -1; it must be at least 0."),
        ({"top_p": 0.0}, "top-p is 0, which keeps no token."),
        ({"top_p": 1.5}, "Top-p is 1.5; it must be from 0.0 to 1.0."),
        ({"min_p": math.nan}, "Min-p is nan; it must be from 0.0 to 1.0."),
        ({"seed": -1}, "The seed is -1; it must be from 0 to 9,223,372,036,854,775,807."),
        ({"max_tokens": 0}, "The most new tokens is 0; it must be at least 1."),
        ({"max_tokens": 401}, "401 new tokens were asked for; the whole context is 400."),
        ({"top_k": 2.5}, "Top-k is 2.5; it must be a whole number."),
        ({"typical_p": 0.0}, "typical-p is 0, which keeps no token."),
        ({"typical_p": -0.1}, "Typical-p is -0.1; it must be from 0.0 to 1.0."),
        ({"top_n_sigma": math.nan}, "Top-n-sigma is nan; it must be from 0.0 to 100.0."),
        ({"repetition_penalty": 0.0}, "The repetition penalty is 0.0; it must be from 0.1 to 10.0."),
        ({"presence_penalty": math.nan}, "The presence penalty is nan; it must be from -2.0 to 2.0."),
        ({"frequency_penalty": 3.0}, "The frequency penalty is 3.0; it must be from -2.0 to 2.0."),
        ({"penalty_last_n": -1}, "The window of the penalties is -1; it must be at least 0."),
        ({"penalty_last_n": math.inf}, "The window of the penalties is inf; it must be a whole number."),
        ({"dry_multiplier": -1.0}, "The DRY multiplier is -1.0; it must be from 0.0 to 100.0."),
        ({"dry_base": 0.5}, "The DRY base is 0.5; it must be from 1.0 to 4.0."),
        ({"dry_allowed_length": 0}, "The allowed length of DRY is 0; it must be at least 1."),
        ({"dry_penalty_last_n": -5}, "The window of DRY is -5; it must be at least 0."),
        ({"dry_sequence_breakers": ("",)}, "A DRY sequence breaker is '', which is no text."),
        ({"xtc_probability": 1.1}, "The XTC probability is 1.1; it must be from 0.0 to 1.0."),
        ({"xtc_threshold": math.nan}, "The XTC threshold is nan; it must be from 0.0 to 1.0."),
        ({"stop": ("",)}, "A stop string is '', which is no text."),
        ({"stop": ("x" * 257,)}, "A stop string is 257 characters long; at most 256 are possible."),
        ({"stop": range(10**9)}, "1,000,000,000 stop strings were given; at most 64 are possible."),
        ({"logit_bias": ((263, 1.0),)}, "The token of a logit bias is 263; it must be from 0 to 262."),
        ({"logit_bias": ((-1, 1.0),)}, "The token of a logit bias is -1; it must be from 0 to 262."),
        ({"logit_bias": ((7, math.nan),)}, "The logit bias of token 7 is nan; it must be from -100.0 to 100.0."),
        ({"logit_bias": ((7, 1.0), (7, 2.0))}, "A token has two logit biases."),
        ({"logit_bias": range(1025)}, "1,025 logit biases were given; at most 1,024 are possible."),
        ({"answers": 0}, "0 answers were asked for; 1 to 64 are possible."),
        ({"answers": 65}, "65 answers were asked for; 1 to 64 are possible."),
        ({"text": " \n"}, "The message is empty."),
        ({"text": "x" * 500}, "The prompt is 516 tokens, this model takes at most 400 with the answer."),
        ({"text": "x" * 300}, "The prompt is 316 tokens and needs 79 blocks of memory; the pool has 64."),
    ],
)
def test_a_request_out_of_range_is_refused_with_numbers(changes: dict[str, object], sentence: str) -> None:
    engine, _ = fake_engine()
    with pytest.raises(InvalidRequestError) as caught:
        engine.add(submit(**changes))  # type: ignore[arg-type]
    assert (caught.value.cause, bool(caught.value.advice), engine.has_work) == (sentence, True, False)


def test_a_request_without_messages_is_refused() -> None:
    engine, _ = fake_engine()
    with pytest.raises(InvalidRequestError, match="no message"):
        engine.add(Submit("r", "c", ()))


def test_a_constraint_is_refused() -> None:
    engine, _ = fake_engine()
    with pytest.raises(InvalidRequestError, match="'regex'; none is supported"):
        engine.add(replace(submit(), constraint=Constraint("regex", "a*")))


def test_a_name_that_is_in_use_is_refused_and_the_first_request_goes_on() -> None:
    engine, _ = fake_engine()
    engine.add(submit())
    with pytest.raises(InvalidRequestError, match="named 'r' is under way"):
        engine.add(submit())
    assert endings(run(engine)) == [("r", "length")]


def test_foreign_token_ids_end_nobody_elses_request() -> None:
    engine, _ = fake_engine()
    engine.add(submit("good"))
    stored = Message(Role.ASSISTANT, (TextPart(""),), (-1,))
    engine.add(submit("other", history=[Message.of(Role.USER, "q"), stored]))
    with pytest.raises(InvalidRequestError, match="holds the token -1"):
        engine.add(Submit("raw", "c", (stored,), raw=True))
    assert endings(run(engine)) == [("good", "length"), ("other", "length")]


def test_a_template_that_raises_is_an_error_of_this_request_alone() -> None:
    engine, _ = fake_engine(template="{{ 1 / 0 }}")
    with pytest.raises(TemplateError, match="ZeroDivisionError"):
        engine.add(submit())
    assert not engine.has_work


# ---- the gauge


def test_the_snapshot_counts_every_block_once() -> None:
    engine, _ = fake_engine()
    engine.add(submit("a", "hello", answers=2))
    engine.step()
    engine.step()
    snapshot = engine.snapshot()
    counted = [snapshot.states.count(state) for state in BlockState]
    assert counted == [snapshot.num_free, snapshot.num_owned, snapshot.num_shared, snapshot.num_cached]


def test_the_snapshot_tells_what_sharing_saves() -> None:
    engine, _ = fake_engine()
    engine.add(submit("a", "hello", answers=3))
    engine.step()
    snapshot = engine.snapshot()
    assert snapshot.saved_bytes == sum(max(count - 1, 0) for count in snapshot.ref_counts) * 1000 > 0


def test_the_snapshot_names_the_chats_of_its_blocks() -> None:
    engine, _ = fake_engine()
    engine.add(submit("a", chat="red"))
    engine.step()
    snapshot = engine.snapshot()
    owners = memoryview(snapshot.owners).cast("H")
    assert {snapshot.chats[owner].chat_id for owner in owners if owner != 0xFFFF} == {"red"}


def test_the_counters_of_the_snapshot_are_those_of_the_runner() -> None:
    engine, runner = fake_engine()
    engine.add(submit("a"))
    run(engine)
    snapshot = engine.snapshot()
    generated = snapshot.generated_tokens
    assert (snapshot.prompt_tokens + generated - 1, snapshot.step_index) == (
        runner.num_computed_tokens,
        len(runner.plans),
    )
