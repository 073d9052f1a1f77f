"""What each step computes, who waits, who loses the turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagedesk.engine.errors import InvalidRequestError
from pagedesk.protocol import FinishReason
from tests.helpers.scheduling import SmallEngine, answer_alone, spec, tokens


def add_two_that_outgrow_the_pool(engine: SmallEngine) -> None:
    engine.add(spec("a", tokens(3), max_tokens=12))
    engine.add(spec("b", tokens(3, start=100), max_tokens=12))


def test_a_prompt_is_computed_in_chunks_of_the_budget() -> None:
    engine = SmallEngine(budget=5)
    engine.add(spec("a", tokens(12), max_tokens=1))
    engine.run()
    assert [len(plan.slices[0].token_ids) for plan in engine.runner.plans] == [5, 5, 2]


def test_only_the_last_chunk_of_a_prompt_chooses_a_token() -> None:
    engine = SmallEngine(budget=5)
    engine.add(spec("a", tokens(12), max_tokens=1))
    engine.run()
    assert [plan.slices[0].sample is not None for plan in engine.runner.plans] == [False, False, True]


def test_a_running_answer_is_served_before_a_prompt_gets_the_rest() -> None:
    engine = SmallEngine(num_blocks=32, budget=8)
    engine.add(spec("a", tokens(4), max_tokens=10))
    engine.step()
    engine.add(spec("b", tokens(20, start=100)))
    engine.step()
    assert engine.last_slices() == [(0, 1), (1, 7)]


def test_an_answer_is_the_same_alone_and_among_others() -> None:
    engine = SmallEngine(num_blocks=64, budget=16)
    requests = [spec(name, tokens(5 + 3 * i, start=50 * i), max_tokens=12) for i, name in enumerate("abcd")]
    for request in requests:
        engine.add(request)
    engine.run()
    assert [engine.answers[r.request_id, 0] for r in requests] == [answer_alone(r, 0, 12) for r in requests]


def test_an_answer_is_the_same_after_it_lost_its_turn() -> None:
    engine = SmallEngine(num_blocks=6)
    requests = [spec("a", tokens(7), max_tokens=14), spec("b", tokens(6, start=100), max_tokens=14)]
    for request in requests:
        engine.add(request)
    engine.run()
    assert [engine.answers[r.request_id, 0] for r in requests] == [answer_alone(r, 0, 14) for r in requests]


def test_the_newest_loses_its_turn_when_blocks_run_out() -> None:
    engine = SmallEngine(num_blocks=4)
    add_two_that_outgrow_the_pool(engine)
    assert engine.step_until_one_waits() == ["b"]


def test_nobody_is_admitted_in_a_step_that_took_a_turn_away() -> None:
    engine = SmallEngine(num_blocks=4)
    add_two_that_outgrow_the_pool(engine)
    engine.step_until_one_waits()
    assert engine.last_slices() == [(0, 1)]


def test_the_chat_in_focus_keeps_its_turn() -> None:
    engine = SmallEngine(num_blocks=4)
    engine.scheduler.set_focus("chat of b")
    add_two_that_outgrow_the_pool(engine)
    assert engine.step_until_one_waits() == ["a"]


def test_the_higher_priority_keeps_its_turn() -> None:
    engine = SmallEngine(num_blocks=4)
    engine.add(spec("a", tokens(3), max_tokens=12))
    engine.add(spec("b", tokens(3, start=100), max_tokens=12, priority=1))
    assert engine.step_until_one_waits() == ["a"]


def test_the_chat_in_focus_is_admitted_first() -> None:
    engine = SmallEngine(budget=8)
    engine.add(spec("a", tokens(8)))
    engine.add(spec("b", tokens(8, start=100)))
    engine.scheduler.set_focus("chat of b")
    engine.step()
    assert engine.last_slices() == [(1, 8)]


def test_a_request_that_waits_for_blocks_says_so_once() -> None:
    engine = SmallEngine(num_blocks=4)
    engine.add(spec("a", tokens(12), max_tokens=3))
    engine.add(spec("b", tokens(8, start=100)))
    waits = [wait for _ in range(3) for wait in engine.step().waiting]
    assert [(w.request.spec.request_id, w.needed_blocks, w.available_blocks) for w in waits] == [("b", 2, 1)]


def test_a_prompt_that_no_pool_state_could_hold_is_refused_with_numbers() -> None:
    engine = SmallEngine(num_blocks=4)
    with pytest.raises(InvalidRequestError, match=r"17 tokens and needs 5 blocks of memory; the pool has 4\."):
        engine.add(spec("a", tokens(17)))


def test_a_prompt_that_fills_the_whole_pool_gets_one_token() -> None:
    engine = SmallEngine(num_blocks=4)
    engine.add(spec("a", tokens(16), max_tokens=None))
    engine.run()
    assert engine.reasons == {("a", 0): FinishReason.CONTEXT}


def test_a_stop_token_ends_the_answer_and_is_part_of_it() -> None:
    request = spec("a", tokens(5), max_tokens=9)
    third = answer_alone(request, 0, 3)[2]
    engine = SmallEngine()
    engine.add(spec("a", tokens(5), max_tokens=9, stop_ids=frozenset({third})))
    engine.run()
    assert (engine.answers["a", 0][-1], engine.reasons["a", 0]) == (third, FinishReason.STOP)


def test_the_next_turn_hits_every_token_that_the_last_one_computed() -> None:
    engine = SmallEngine(num_blocks=16)
    first = spec("a", tokens(6), chat="c", max_tokens=7)
    engine.add(first)
    engine.run()
    history = [*first.prompt_ids, *engine.answers["a", 0]]
    request = engine.add(spec("b", [*history, 500, 501], chat="c"))
    engine.step()
    assert request.cached_tokens == len(history) - 1


@pytest.mark.parametrize("num_tokens", range(2, 14))
def test_a_prompt_that_is_asked_again_computes_its_last_token_alone(num_tokens: int) -> None:
    engine = SmallEngine(num_blocks=16)
    engine.add(spec("a", tokens(num_tokens)))
    engine.run()
    before = engine.runner.num_computed_tokens
    engine.add(spec("b", tokens(num_tokens), max_tokens=1))
    engine.run()
    assert engine.runner.num_computed_tokens - before == 1


def test_two_chats_with_one_system_prompt_hold_its_blocks_once() -> None:
    engine = SmallEngine(num_blocks=16)
    engine.add(spec("a", [*tokens(8), 100, 101]))
    engine.add(spec("b", [*tokens(8), 200, 201]))
    engine.step()
    engine.step()
    tables = [part.tables[0].block_ids for part in engine.runner.plans[-1].slices]
    assert tables[0][:2] == tables[1][:2] == (0, 1)


def test_n_answers_compute_the_prompt_once_and_its_last_token_for_each_sibling() -> None:
    engine = SmallEngine(num_blocks=32)
    engine.add(spec("a", tokens(10), answers=4, max_tokens=1))
    engine.run()
    assert engine.runner.num_computed_tokens == 10 + 3


@pytest.mark.parametrize("prompt_length", [1, 2, 7, 8, 9, 10, 12, 13])
def test_n_answers_are_those_that_each_seed_gives_alone(prompt_length: int) -> None:
    engine = SmallEngine(num_blocks=32)
    request = spec("a", tokens(prompt_length), answers=3, max_tokens=11)
    engine.add(request)
    engine.run()
    assert [engine.answers["a", i] for i in range(3)] == [answer_alone(request, i, 11) for i in range(3)]


def test_the_partial_block_is_copied_by_all_but_the_last_that_writes_it() -> None:
    engine = SmallEngine(num_blocks=32)
    engine.add(spec("a", tokens(6), answers=3, max_tokens=4))
    engine.step()
    engine.step()
    assert engine.runner.plans[1].copies == ((1, 2), (1, 3))


def test_n_answers_survive_a_pool_that_holds_only_one_of_them() -> None:
    engine = SmallEngine(num_blocks=4)
    request = spec("a", tokens(6), answers=4, max_tokens=10)
    engine.add(request)
    engine.run()
    assert [engine.answers["a", i] for i in range(4)] == [answer_alone(request, i, 10) for i in range(4)]


def test_more_answers_than_places_take_turns() -> None:
    engine = SmallEngine(num_blocks=32, max_sequences=2)
    request = spec("a", tokens(6), answers=5, max_tokens=5)
    engine.add(request)
    engine.run()
    assert [engine.answers["a", i] for i in range(5)] == [answer_alone(request, i, 5) for i in range(5)]


def test_an_aborted_request_gives_its_blocks_back() -> None:
    engine = SmallEngine(num_blocks=8)
    engine.add(spec("a", tokens(6), answers=2))
    engine.step()
    ended = engine.scheduler.abort("a")
    engine.manager.check_invariants()
    assert (ended, engine.manager.pool.num_available, engine.scheduler.has_work) == ([0, 1], 8, False)


def test_a_row_of_nan_ends_its_request_and_no_other() -> None:
    engine = SmallEngine(num_blocks=16)
    other = spec("b", tokens(5, start=100), max_tokens=6)
    engine.add(spec("a", tokens(5), max_tokens=6))
    engine.add(other)
    engine.step()
    engine.runner.fault_if = lambda part: part.sequence_id == 0
    outcome = engine.step()
    engine.run()
    assert [r.spec.request_id for r in outcome.faulted] == ["a"]
    assert engine.answers["b", 0] == answer_alone(other, 0, 6)


def test_a_failed_step_ends_the_requests_it_computed_and_leaves_those_that_wait() -> None:
    engine = SmallEngine(num_blocks=4)
    waiting = spec("b", tokens(8, start=100), max_tokens=3)
    engine.add(spec("a", tokens(12), max_tokens=3))
    engine.add(waiting)
    failed = engine.scheduler.fail(engine.scheduler.schedule())
    engine.manager.check_invariants()
    engine.run()
    assert [r.spec.request_id for r in failed] == ["a"]
    assert engine.answers["b", 0] == answer_alone(waiting, 0, 3)


def test_a_failed_step_that_was_to_copy_blocks_copies_none_and_leaves_the_cache_whole() -> None:
    engine = SmallEngine(num_blocks=16)
    first, second = spec("a", tokens(11), max_tokens=3), spec("c", [*tokens(6), 900, 901], max_tokens=3)
    engine.add(first)
    engine.run()
    engine.add(spec("b", [*tokens(6), 900, 901], max_tokens=3))
    plan = engine.scheduler.schedule()
    assert plan.copies, "the second block begins as one that is cached"
    failed = engine.scheduler.fail(plan)
    engine.manager.check_invariants()
    assert ([r.spec.request_id for r in failed], engine.scheduler.has_work) == (["b"], False)
    assert engine.manager.pool.num_available == 16
    engine.add(second)
    engine.run()
    assert engine.answers["c", 0] == answer_alone(second, 0, 3)


def test_a_failed_step_in_which_answers_part_leaves_the_cache_whole() -> None:
    engine = SmallEngine(num_blocks=32)
    request = spec("n", tokens(6), answers=3, max_tokens=6)
    engine.add(request)
    engine.step()
    plan = engine.scheduler.schedule()
    assert plan.copies, "the answers copy the block that they share before they write it"
    engine.scheduler.fail(plan)
    engine.manager.check_invariants()
    assert engine.manager.pool.num_available == 32
    engine.add(replace(request, request_id="again"))
    engine.run()
    assert [engine.answers["again", i] for i in range(3)] == [answer_alone(request, i, 6) for i in range(3)]


def test_counters_tell_computed_cached_and_generated_tokens() -> None:
    engine = SmallEngine(num_blocks=16)
    engine.add(spec("a", tokens(10), max_tokens=3))
    engine.run()
    engine.add(spec("b", tokens(10), max_tokens=2))
    engine.run()
    scheduler = engine.scheduler
    assert (scheduler.prompt_tokens, scheduler.cached_prompt_tokens, scheduler.generated_tokens) == (11, 9, 5)
