"""Chats side by side: whose prompt is computed first, who waits, and that nobody starves."""

from __future__ import annotations

from pagedesk.engine.batch import StepPlan
from tests.helpers.scheduling import SmallEngine, spec, tokens

PIECE = 8


def ended_first(engine: SmallEngine, request_id: str) -> list[str]:
    """The requests that have ended before this one does, in no order."""
    while not any(name == request_id for name, _ in engine.reasons):
        engine.step()
    return [name for name, _ in engine.reasons if name != request_id]


def order_of_starts(engine: SmallEngine) -> list[str]:
    """The requests in the order in which they get their turn."""
    names: list[str] = []
    while engine.scheduler.has_work:
        names += [request.spec.request_id for request in engine.step().started]
    return names


def test_a_short_prompt_does_not_wait_for_a_long_one_of_another_chat() -> None:
    engine = SmallEngine(num_blocks=64, budget=PIECE)
    engine.add(spec("long", tokens(160), max_tokens=1))
    engine.step()
    engine.add(spec("short", tokens(6, start=500), max_tokens=1))
    engine.step()
    engine.step()
    assert list(engine.reasons) == [("short", 0)]


def test_two_long_prompts_take_turns() -> None:
    engine = SmallEngine(num_blocks=64, budget=PIECE)
    engine.add(spec("a", tokens(48), max_tokens=1))
    engine.add(spec("b", tokens(48, start=500), max_tokens=1))
    order = []
    for _ in range(6):
        engine.step()
        order += [sequence_id for sequence_id, _ in engine.last_slices()]
    assert order == [0, 1, 0, 1, 0, 1]


def test_the_prompt_of_the_chat_in_focus_goes_first_though_another_is_half_done() -> None:
    engine = SmallEngine(num_blocks=64, budget=PIECE)
    engine.add(spec("a", tokens(160), max_tokens=1))
    engine.step()
    engine.add(spec("b", tokens(32, start=500), max_tokens=1))
    engine.scheduler.set_focus("chat of b")
    for _ in range(4):
        engine.step()
    assert list(engine.reasons) == [("b", 0)]


def test_a_chat_with_many_requests_lets_others_in_between() -> None:
    engine = SmallEngine(num_blocks=64, max_sequences=1)
    for index in range(4):
        engine.add(spec(f"a{index}", tokens(4, start=10 * index), chat="a", max_tokens=2))
    engine.add(spec("b0", tokens(4, start=200), chat="b", max_tokens=2))
    engine.add(spec("b1", tokens(4, start=300), chat="b", max_tokens=2))
    assert order_of_starts(engine) == ["a0", "b0", "a1", "b1", "a2", "a3"]


def test_within_a_chat_requests_come_in_the_order_of_their_arrival() -> None:
    engine = SmallEngine(num_blocks=64, budget=PIECE)
    for index in range(5):
        engine.add(spec(f"a{index}", tokens(PIECE, start=20 * index), chat="a", max_tokens=1))
    assert order_of_starts(engine) == [f"a{index}" for index in range(5)]


def test_a_chat_with_many_answers_loses_all_but_one_of_them_before_another_chat_loses_its_only_one() -> None:
    engine = SmallEngine(num_blocks=10)
    engine.add(spec("many", tokens(3), answers=4, max_tokens=20))
    engine.step()
    engine.add(spec("one", tokens(3, start=500), max_tokens=20))
    assert (engine.step_until_one_waits(), engine.last_slices()) == (["one"], [(0, 1)])


def test_a_large_request_gets_its_blocks_though_small_ones_keep_coming() -> None:
    engine = SmallEngine(num_blocks=8)
    engine.add(spec("first", tokens(8), max_tokens=12))
    engine.step()
    engine.add(spec("large", tokens(24, start=100), max_tokens=1))
    for index in range(20):
        engine.add(spec(f"small {index}", tokens(3, start=200 + 10 * index), chat=f"c{index}", max_tokens=2))
    assert ended_first(engine, "large") == ["first"]


def test_nobody_comes_in_where_a_turn_was_taken_away() -> None:
    engine = SmallEngine(num_blocks=6)
    engine.add(spec("a", tokens(7), max_tokens=12))
    engine.add(spec("b", tokens(7, start=100), max_tokens=12))
    while not engine.step().waiting:
        engine.add(spec(f"late {len(engine.runner.plans)}", tokens(2, start=300), max_tokens=1))
    assert {sequence_id for sequence_id, _ in engine.last_slices()} <= {0, 1}


def test_while_answers_run_the_gap_between_their_tokens_is_bounded_and_the_prompt_goes_on() -> None:
    def machine(plan: StepPlan) -> float:
        return 20 + sum(len(part.token_ids) for part in plan.slices)

    engine = SmallEngine(num_blocks=256, budget=256)
    engine.machine = machine
    engine.add(spec("talk", tokens(20), max_tokens=40))
    for _ in range(5):
        engine.step()
    engine.add(spec("paste", tokens(600, start=100), max_tokens=1))
    before = len(engine.step_ms)
    engine.run()
    assert max(engine.step_ms[before:]) <= 150
    assert engine.reasons.keys() == {("talk", 0), ("paste", 0)}
