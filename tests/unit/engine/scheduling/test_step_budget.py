"""How much a step may compute, on machines whose speed the test decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pagedesk.engine.batch import SequenceSlice, StepPlan
from pagedesk.engine.scheduling.step_budget import MIN_PIECE, StepBudget

MAX_TOKENS = 256
MAX_GAP_MS = 150.0
PASTE = 8000


@dataclass(frozen=True)
class Machine:
    """Milliseconds of a step: fixed, for each prompt token, for each thousand pairs of tokens, for each cached one."""

    fixed: float
    token: float
    pairs: float
    cached: float

    def ms(self, plan: StepPlan) -> float:
        pieces = [(len(part.token_ids), part.start_position) for part in plan.slices if len(part.token_ids) > 1]
        return self.fixed + sum(
            n * self.token + n * (start + n / 2) / 1000 * self.pairs + (start + n) * self.cached for n, start in pieces
        )


DESKTOP = Machine(fixed=30, token=0.5, pairs=0.5, cached=0.001)
CARD = Machine(fixed=8, token=0.02, pairs=0.002, cached=0.0001)
SLOW = Machine(fixed=200, token=3, pairs=2, cached=0.01)


def answer() -> SequenceSlice:
    return SequenceSlice(0, (1,), 50, (), None)


def piece(num_tokens: int, start: int = 0) -> SequenceSlice:
    return SequenceSlice(1, (1,) * num_tokens, start, (), None)


def settled(machine: Machine, max_gap_ms: float | None = MAX_GAP_MS) -> StepBudget:
    """A budget that knows the machine: one chat has written a while, after a first step that took a second longer."""
    budget = StepBudget(MAX_TOKENS, max_gap_ms)
    first = StepPlan((piece(40),))
    budget.note(first, 1000 + machine.ms(first))
    for _ in range(20):
        budget.note(StepPlan((answer(),)), machine.ms(StepPlan((answer(),))))
    return budget


def paste(
    budget: StepBudget, ms_of: Callable[[StepPlan], float], num_tokens: int = PASTE
) -> Iterator[tuple[int, float]]:
    """Compute a prompt beside an answer: the length of each piece and the time of its step."""
    start = 0
    while start < num_tokens:
        allowance = budget.open(has_answers=True)
        assert allowance.take_answer()
        size = allowance.take_prompt(num_tokens - start, start)
        plan = StepPlan((answer(), piece(size, start)))
        budget.note(plan, ms_of(plan))
        yield size, ms_of(plan)
        start += size


def test_the_gap_stays_bounded_while_a_long_prompt_is_computed() -> None:
    assert max(ms for _, ms in paste(settled(DESKTOP), DESKTOP.ms)) <= MAX_GAP_MS


def test_pieces_grow_shorter_with_their_depth() -> None:
    sizes = [size for size, _ in paste(settled(DESKTOP), DESKTOP.ms)]
    quarter = len(sizes) // 4
    assert sum(sizes[:quarter]) > 1.5 * sum(sizes[-quarter - 1 : -1])


def test_a_fast_machine_computes_whole_pieces_with_short_gaps() -> None:
    steps = list(paste(settled(CARD), CARD.ms))[6:-1]
    assert all(size > MAX_TOKENS - MIN_PIECE and ms < 60 for size, ms in steps)


def test_on_a_slow_machine_a_prompt_goes_on_at_half_the_pace_of_the_answers_or_more() -> None:
    for size, ms in paste(settled(SLOW), SLOW.ms, 512):
        assert size >= 1
        assert size > MIN_PIECE or ms > 1.2 * SLOW.fixed


def test_no_piece_in_the_middle_is_shorter_than_a_block_on_a_machine_that_is_too_slow_for_any() -> None:
    snail = Machine(fixed=10, token=1000, pairs=0, cached=0)
    assert {size for size, _ in paste(settled(snail), snail.ms, 20 * MIN_PIECE)} == {MIN_PIECE}


def test_a_piece_in_the_middle_of_a_prompt_ends_where_a_block_does() -> None:
    budget = settled(DESKTOP)
    allowance = budget.open(has_answers=True)
    assert (5 + allowance.take_prompt(PASTE, 5)) % MIN_PIECE == 0


def test_one_odd_step_changes_little() -> None:
    budget = settled(DESKTOP)
    list(paste(budget, DESKTOP.ms, 1024))
    usual = budget.open(has_answers=True).take_prompt(PASTE, 0)
    budget.note(StepPlan((answer(), piece(48))), 5000.0)
    assert budget.open(has_answers=True).take_prompt(PASTE, 0) > usual / 2


def test_a_machine_that_another_program_slows_down_is_followed_within_ten_steps() -> None:
    budget = settled(DESKTOP)
    list(paste(budget, DESKTOP.ms, 1024))
    busy = Machine(fixed=30, token=2, pairs=2, cached=0.004)
    late = [ms for _, ms in paste(budget, busy.ms, 1024)][10:]
    assert max(late) <= MAX_GAP_MS


def test_the_estimate_of_a_step_grows_with_its_depth() -> None:
    budget = settled(DESKTOP)
    list(paste(budget, DESKTOP.ms))
    assert budget.longest_step_ms(PASTE) > 2 * budget.longest_step_ms(0)


def test_without_answers_a_piece_is_as_long_as_a_step_may_be() -> None:
    assert settled(SLOW).open(has_answers=False).take_prompt(PASTE, 0) == MAX_TOKENS


def test_without_a_limit_a_piece_is_as_long_as_a_step_may_be() -> None:
    assert settled(SLOW, max_gap_ms=None).open(has_answers=True).take_prompt(PASTE, 0) == MAX_TOKENS


def test_a_step_with_little_time_left_serves_no_further_prompt() -> None:
    allowance = settled(DESKTOP).open(has_answers=True)
    seen = [allowance.is_spent]
    allowance.take_prompt(PASTE, 0)
    assert [*seen, allowance.is_spent] == [False, True]


def test_steps_that_take_no_time_at_all_are_survived() -> None:
    budget = StepBudget(MAX_TOKENS, MAX_GAP_MS)
    for plan in [StepPlan((piece(30),)), StepPlan((piece(30),)), StepPlan((answer(),))] * 3:
        budget.note(plan, 0.0)
    for _ in range(40):
        budget.note(StepPlan((piece(64),)), 64.0)
    assert 16 <= budget.open(has_answers=True).take_prompt(PASTE, 0) < MAX_TOKENS
