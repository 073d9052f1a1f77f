"""Reservation, the baseline of the benchmarks: what a sequence holds from its first step to its end."""

from __future__ import annotations

import pytest

from pagedesk.engine.config import Allocation
from tests.helpers.scheduling import SmallEngine, answer_alone, spec, tokens

MAX_LEN = 16


def engine_of_eight_blocks(allocation: Allocation) -> SmallEngine:
    return SmallEngine(num_blocks=8, max_len=MAX_LEN, allocation=allocation)


def held_blocks(engine: SmallEngine) -> list[int]:
    """The blocks that are held after each step but the last."""
    held = []
    while engine.scheduler.has_work:
        engine.step()
        held.append(engine.scheduler.pool_use().num_held_blocks)
    return held[:-1]


@pytest.mark.parametrize(
    ("allocation", "held"),
    [
        (Allocation.ON_DEMAND, [1, 1, 2, 2, 2, 2]),
        (Allocation.RESERVE_EXACT, [3] * 6),
        (Allocation.RESERVE_MAXIMUM, [4] * 6),
    ],
)
def test_a_sequence_holds_what_it_needs_or_what_it_reserved(allocation: Allocation, held: list[int]) -> None:
    engine = engine_of_eight_blocks(allocation)
    engine.add(spec("a", tokens(3), max_tokens=7))
    assert held_blocks(engine) == held


@pytest.mark.parametrize(
    ("allocation", "running"),
    [(Allocation.ON_DEMAND, 4), (Allocation.RESERVE_EXACT, 2), (Allocation.RESERVE_MAXIMUM, 2)],
)
def test_who_reserves_lets_fewer_in(allocation: Allocation, running: int) -> None:
    engine = engine_of_eight_blocks(allocation)
    for index in range(6):
        engine.add(spec(f"r{index}", tokens(3, start=100 * index), max_tokens=7))
    engine.step()
    assert engine.scheduler.num_running == running


@pytest.mark.parametrize("allocation", [Allocation.RESERVE_EXACT, Allocation.RESERVE_MAXIMUM])
def test_who_has_reserved_never_loses_a_turn_and_says_the_same(allocation: Allocation) -> None:
    engine = engine_of_eight_blocks(allocation)
    requests = [spec(f"r{index}", tokens(3 + index, start=100 * index), max_tokens=9) for index in range(5)]
    for request in requests:
        engine.add(request)
    engine.run()
    assert engine.scheduler.num_lost_turns == 0
    assert [engine.answers[r.request_id, 0] for r in requests] == [answer_alone(r, 0, 9) for r in requests]


def test_an_answer_without_a_limit_reserves_the_longest_sequence() -> None:
    engine = engine_of_eight_blocks(Allocation.RESERVE_EXACT)
    engine.add(spec("a", tokens(3), max_tokens=None))
    assert set(held_blocks(engine)) == {4}


def test_lost_turns_and_evictions_are_counted() -> None:
    engine = SmallEngine(num_blocks=4)
    engine.add(spec("a", tokens(3), max_tokens=12))
    engine.add(spec("b", tokens(3, start=100), max_tokens=12))
    engine.run()
    use = engine.scheduler.pool_use()
    assert (use.num_lost_turns, use.num_running, use.num_used_tokens) == (1, 0, 0)
    assert use.num_evicted_blocks > 0
