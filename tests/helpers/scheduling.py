"""Builders for the nouns of the scheduler, and a small engine of scheduler and fake runner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pagedesk.engine.batch import SequenceSlice, StepPlan
from pagedesk.engine.config import MAX_GAP_MS, Allocation
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.outcome import StepOutcome
from pagedesk.engine.scheduling.request import Request, RequestSpec
from pagedesk.engine.scheduling.scheduler import Scheduler
from pagedesk.engine.scheduling.step_budget import StepBudget
from pagedesk.protocol import FinishReason, SamplingParams
from tests.helpers.fake_runner import FakeRunner, pick_token

BLOCK = 4
VOCAB = 1000
STOP = 999


def tokens(count: int, start: int = 1) -> tuple[int, ...]:
    """`count` different tokens from `start` on."""
    return tuple(range(start, start + count))


def spec(
    request_id: str,
    prompt: Sequence[int],
    *,
    chat: str = "",
    answers: int = 1,
    max_tokens: int | None = 4,
    priority: int = 0,
    stop_ids: frozenset[int] = frozenset(),
    seed: int = 7,
) -> RequestSpec:
    params = SamplingParams(temperature=0.0, max_tokens=max_tokens)
    chat_id = chat or f"chat of {request_id}"
    return RequestSpec(request_id, chat_id, tuple(prompt), params, seed, stop_ids, answers, priority)


def seeded_token(history: Sequence[int], part: SequenceSlice) -> int:
    """A token that depends on the history and on the seed, so that answers to one question differ."""
    assert part.sample is not None
    return pick_token([part.sample.seed, part.sample.draw_index, *history], VOCAB)


def answer_alone(request: RequestSpec, answer_index: int, num_tokens: int) -> list[int]:
    """The answer of `seeded_token` without any cache."""
    history = list(request.prompt_ids)
    for draw in range(num_tokens):
        history.append(pick_token([request.seed + answer_index, draw, *history], VOCAB))
        if history[-1] in request.stop_ids:
            break
    return history[len(request.prompt_ids) :]


class SmallEngine:
    """A scheduler over a small pool, stepped by hand; every step is checked.

    Attributes:
        machine: How many milliseconds a step takes; without it steps are not timed.
        step_ms: What each step took, where they are timed.
    """

    def __init__(
        self,
        num_blocks: int = 8,
        *,
        budget: int = 64,
        max_sequences: int = 16,
        max_len: int = 1000,
        block_size: int = BLOCK,
        max_gap_ms: float | None = MAX_GAP_MS,
        allocation: Allocation = Allocation.ON_DEMAND,
        windows: Sequence[int | None] = (None,),
    ) -> None:
        self.manager = KVCacheManager(num_blocks, block_size, windows=windows, max_step_tokens=budget)
        self.scheduler = Scheduler(
            self.manager,
            StepBudget(budget, max_gap_ms),
            max_num_sequences=max_sequences,
            max_model_len=max_len,
            allocation=allocation,
        )
        self.machine: Callable[[StepPlan], float] | None = None
        self.step_ms: list[float] = []
        self.runner = FakeRunner(num_blocks, block_size, seeded_token, windows)
        self.answers: dict[tuple[str, int], list[int]] = {}
        self.reasons: dict[tuple[str, int], FinishReason] = {}

    def add(self, request: RequestSpec) -> Request:
        return self.scheduler.add(request)

    def step(self) -> StepOutcome:
        plan = self.scheduler.schedule()
        self.manager.check_invariants()
        assert plan.slices, "a step computes something"
        copied = {destination for _, destination in plan.copies}
        assert copied <= {block_id for part in plan.slices for table in part.tables for block_id in table.block_ids}, (
            "who waits gets no copy"
        )
        if self.machine is not None:
            self.step_ms.append(self.machine(plan))
            self.scheduler.note_time(plan, self.step_ms[-1])
        outcome = self.scheduler.update(plan, self.runner.run(plan))
        self.manager.check_invariants()
        for advance in outcome.advances:
            key = (advance.request.spec.request_id, advance.answer_index)
            self.answers.setdefault(key, []).append(advance.token_id)
            if advance.finish is not None:
                self.reasons[key] = advance.finish
        return outcome

    def run(self) -> None:
        while self.scheduler.has_work:
            self.step()

    def step_until_one_waits(self) -> list[str]:
        """Step until blocks run out; the requests that wait then."""
        waits: list[str] = []
        while not waits:
            waits = [wait.request.spec.request_id for wait in self.step().waiting]
        return waits

    def last_slices(self) -> list[tuple[int, int]]:
        """(sequence id, number of tokens) of the newest step, in order."""
        return [(part.sequence_id, len(part.token_ids)) for part in self.runner.plans[-1].slices]
