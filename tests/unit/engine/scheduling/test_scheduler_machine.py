"""Any order of requests, steps, cancels and ends keeps the pool whole and every answer what it would be alone."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pagedesk.engine.scheduling.request import RequestSpec
from pagedesk.protocol import BlockState
from tests.helpers.scheduling import VOCAB, SmallEngine, answer_alone, spec, tokens

CHATS = ("red", "blue", "green")
MAX_PROMPT = 30
WINDOWS: tuple[tuple[int | None, ...], ...] = ((None,), (None, 5), (None, 11, 2))


class SchedulerMachine(RuleBasedStateMachine):
    """Submits prompts that share prefixes, over a pool that is too small for all of them."""

    @initialize(
        blocks=st.integers(4, 14), budget=st.integers(1, 24), places=st.integers(1, 5), windows=st.sampled_from(WINDOWS)
    )
    def start(self, blocks: int, budget: int, places: int, windows: tuple[int | None, ...]) -> None:
        self.engine = SmallEngine(blocks * len(windows), budget=budget, max_sequences=places, windows=windows)
        self.specs: dict[str, RequestSpec] = {}
        self.aborted: set[str] = set()

    @rule(
        shared=st.integers(0, 9),
        own=st.integers(1, 6),
        chat=st.sampled_from(CHATS),
        answers=st.integers(1, 3),
        max_tokens=st.integers(1, 9),
        priority=st.integers(0, 1),
        has_stops=st.booleans(),
    )
    def submit(
        self, shared: int, own: int, chat: str, answers: int, max_tokens: int, priority: int, has_stops: bool
    ) -> None:
        name = f"request {len(self.specs)}"
        prompt = [*tokens(shared), *tokens(own, start=100 + 10 * len(self.specs) % 30)]
        stop_ids = frozenset(range(0, VOCAB, 5)) if has_stops else frozenset()
        self.specs[name] = spec(
            name, prompt, chat=chat, answers=answers, max_tokens=max_tokens, priority=priority, stop_ids=stop_ids
        )
        self.engine.add(self.specs[name])

    @precondition(lambda self: self.specs)
    @rule(data=st.data(), own=st.integers(1, 5), answers=st.integers(1, 3))
    def next_turn(self, data: st.DataObject, own: int, answers: int) -> None:
        text, chat = self.earlier_text(data)
        self.ask([*text, *tokens(own, start=200 + len(self.specs))], chat, answers)

    @precondition(lambda self: self.specs)
    @rule(data=st.data(), answers=st.integers(1, 3))
    def regenerate(self, data: st.DataObject, answers: int) -> None:
        earlier = self.specs[data.draw(st.sampled_from(sorted(self.specs)))]
        self.ask(earlier.prompt_ids, earlier.chat_id, answers)

    @precondition(lambda self: self.specs)
    @rule(data=st.data(), token_id=st.integers(0, 3), answers=st.integers(1, 3))
    def edit_in_the_middle(self, data: st.DataObject, token_id: int, answers: int) -> None:
        text, chat = self.earlier_text(data)
        place = data.draw(st.integers(0, len(text) - 1))
        self.ask([*text[:place], token_id, *text[place + 1 :]], chat, answers)

    @precondition(lambda self: self.specs)
    @rule(data=st.data(), chat=st.sampled_from(CHATS), own=st.integers(1, 3))
    def branch_at_any_token(self, data: st.DataObject, chat: str, own: int) -> None:
        text, _ = self.earlier_text(data)
        place = data.draw(st.integers(1, len(text)))
        self.ask([*text[:place], *tokens(own, start=300 + len(self.specs))], chat, 1)

    @precondition(lambda self: not self.engine.scheduler.has_work)
    @rule()
    def evict_under_pressure(self) -> None:
        num_tokens = self.engine.manager.longest_sequence(MAX_PROMPT + 1) - 1
        self.ask(tokens(num_tokens, start=400 + 50 * len(self.specs)), "red", 1)
        self.engine.run()

    def earlier_text(self, data: st.DataObject) -> tuple[list[int], str]:
        """What an earlier request asked and was answered so far, cut so that more fits after it; its chat."""
        earlier = self.specs[data.draw(st.sampled_from(sorted(self.specs)))]
        index = data.draw(st.integers(0, earlier.num_answers - 1))
        text = [*earlier.prompt_ids, *self.engine.answers.get((earlier.request_id, index), [])]
        return text[: self.engine.manager.longest_sequence(MAX_PROMPT) - 5], earlier.chat_id

    def ask(self, prompt: Sequence[int], chat: str, answers: int) -> None:
        name = f"request {len(self.specs)}"
        self.specs[name] = spec(name, prompt, chat=chat, answers=answers, max_tokens=5, seed=len(self.specs) % 4)
        self.engine.add(self.specs[name])

    @precondition(lambda self: self.engine.scheduler.has_work)
    @rule()
    def step(self) -> None:
        self.engine.step()

    @precondition(lambda self: self.engine.scheduler.has_work)
    @rule()
    def finish_all(self) -> None:
        self.engine.run()

    @precondition(lambda self: self.specs)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.specs)))
        if self.engine.scheduler.abort(name):
            self.aborted.add(name)

    @precondition(lambda self: self.engine.scheduler.has_work)
    @rule()
    def fail_a_step(self) -> None:
        failed = self.engine.scheduler.fail(self.engine.scheduler.schedule())
        self.aborted.update(request.spec.request_id for request in failed)

    @rule(chat=st.sampled_from([*CHATS, None]))
    def focus(self, chat: str | None) -> None:
        self.engine.scheduler.set_focus(chat)

    @invariant()
    def the_pool_is_whole(self) -> None:
        self.engine.manager.check_invariants()

    @invariant()
    def answers_are_those_of_a_sequence_alone(self) -> None:
        for (name, index), answer in self.engine.answers.items():
            assert answer == answer_alone(self.specs[name], index, len(answer))

    @invariant()
    def without_work_no_block_is_held(self) -> None:
        if not self.engine.scheduler.has_work:
            in_state = self.engine.manager.pool.map.num_in_state
            assert in_state[BlockState.OWNED] == in_state[BlockState.SHARED] == 0

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.run()
            for name, request in self.specs.items():
                if name not in self.aborted:
                    assert all((name, index) in self.engine.reasons for index in range(request.num_answers))


SchedulerMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestScheduler = SchedulerMachine.TestCase
