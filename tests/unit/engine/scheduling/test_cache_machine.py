"""Any order of forks, edits, steps and losses keeps the pool whole, and what is read is what was written.

The scheduler forks at one place only; here a sequence forks at any token, and steps fail half-way.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pagedesk.engine.batch import SequenceSlice, StepPlan
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.sequence import Sequence
from tests.helpers.fake_runner import FakeRunner, longer_prefix
from tests.helpers.scheduling import BLOCK, tokens

texts = st.lists(st.integers(0, 2), min_size=1, max_size=14)
additions = st.lists(st.integers(0, 2), min_size=1, max_size=6)
chats = st.sampled_from(("red", "blue"))
WINDOWS: tuple[tuple[int | None, ...], ...] = ((None,), (None, 5), (None, None, 3), (7,), (9, 2), (None, 12, 1))
MAX_CHUNK = 9


class CacheMachine(RuleBasedStateMachine):
    """Texts over three different tokens, so that they agree and part everywhere."""

    @initialize(num_blocks=st.integers(4, 16), windows=st.sampled_from(WINDOWS))
    def start(self, num_blocks: int, windows: tuple[int | None, ...]) -> None:
        num_blocks *= len(windows)
        self.manager = KVCacheManager(num_blocks, BLOCK, windows=windows, max_step_tokens=MAX_CHUNK)
        self.runner = FakeRunner(num_blocks, BLOCK, lambda _history, _part: 0, windows)
        self.live: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self.texts: list[list[int]] = []
        self.num_sequences = 0

    @rule(text=texts, chat=chats)
    def begin(self, text: list[int], chat: str) -> None:
        self.ask(text, chat)

    @precondition(lambda self: self.texts)
    @rule(data=st.data(), chat=chats)
    def regenerate(self, data: st.DataObject, chat: str) -> None:
        self.ask(self.earlier_start(data), chat)

    @precondition(lambda self: self.texts)
    @rule(data=st.data(), more=additions, chat=chats)
    def edit_in_the_middle(self, data: st.DataObject, more: list[int], chat: str) -> None:
        self.ask([*self.earlier_start(data), *more], chat)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), more=additions, chat=chats)
    def fork_at_any_token(self, data: st.DataObject, more: list[int], chat: str) -> None:
        parent = data.draw(st.sampled_from(self.live))
        place = data.draw(st.integers(0, parent.num_computed_tokens))
        child = self.new_sequence([*parent.token_ids[:place], *more], chat)
        if self.manager.fork(parent, child, place):
            self.live.append(child)
        else:
            self.waiting.append(child)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), more=additions)
    def go_on(self, data: st.DataObject, more: list[int]) -> None:
        data.draw(st.sampled_from(self.live)).token_ids.extend(more)

    @precondition(lambda self: self.live or self.waiting)
    @rule(data=st.data(), chunk=st.integers(1, MAX_CHUNK))
    def step(self, data: st.DataObject, chunk: int) -> None:
        self.complete(self.plan(data, chunk))

    @precondition(lambda self: self.live or self.waiting)
    @rule(data=st.data(), chunk=st.integers(1, MAX_CHUNK), comes_to_copies=st.booleans(), comes_to_writes=st.booleans())
    def fail_a_step(self, data: st.DataObject, chunk: int, *, comes_to_copies: bool, comes_to_writes: bool) -> None:
        plan = self.plan(data, chunk)
        if comes_to_copies:
            self.runner.run(StepPlan(plan.slices if comes_to_writes else (), plan.copies))
        failed = [sequence for sequence, _ in self.parts(plan)]
        for sequence in failed:
            self.manager.distrust(sequence)
        self.end(failed)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        self.end(self.some(data))

    @rule()
    def evict_under_pressure(self) -> None:
        num_tokens = self.manager.pool.num_available // self.manager.num_groups * BLOCK
        if not num_tokens:
            return
        big = self.new_sequence(list(tokens(num_tokens, start=100 + self.num_sequences)), "red")
        part = self.start_with(big, num_tokens)
        assert part is not None
        self.complete(StepPlan((part,), self.manager.take_copies()))
        self.end([big])

    @invariant()
    def the_pool_is_whole(self) -> None:
        self.manager.check_invariants()

    def teardown(self) -> None:
        if hasattr(self, "manager"):
            self.end(self.live)
            self.manager.check_invariants()
            assert self.manager.pool.num_available == self.manager.num_blocks

    def ask(self, text: list[int], chat: str) -> None:
        self.waiting.append(self.new_sequence(text, chat))

    def new_sequence(self, text: list[int], chat: str) -> Sequence:
        self.num_sequences += 1
        return Sequence(self.num_sequences, chat, text, self.manager.num_groups)

    def earlier_start(self, data: st.DataObject) -> list[int]:
        text = data.draw(st.sampled_from(self.texts))
        return text[: data.draw(st.integers(1, len(text)))]

    def some(self, data: st.DataObject) -> list[Sequence]:
        subsets = st.lists(st.sampled_from(self.live), unique_by=lambda sequence: sequence.sequence_id)
        return data.draw(subsets) if self.live else []

    def plan(self, data: st.DataObject, chunk: int) -> StepPlan:
        """A step as the scheduler plans it: some grow, some are admitted, some of all these lose their turn."""
        parts = [self.grow(sequence, chunk) for sequence in self.some(data)]
        num_admitted = data.draw(st.integers(0, len(self.waiting)))
        parts += [self.start_with(sequence, chunk) for sequence in self.waiting[:num_admitted]]
        del self.waiting[:num_admitted]
        victims = self.some(data)
        self.end(victims)
        self.manager.check_invariants()
        lost = {sequence.sequence_id for sequence in victims}
        slices = tuple(part for part in parts if part is not None and part.sequence_id not in lost)
        return StepPlan(slices, self.manager.take_copies())

    def start_with(self, sequence: Sequence, chunk: int) -> SequenceSlice | None:
        if not self.manager.admit(sequence, num_spare=0):
            return None
        self.live.append(sequence)
        self.manager.explain_miss(sequence)
        self.manager.check_invariants()
        part = self.grow(sequence, chunk)
        assert part is not None, "who is admitted has room for all its tokens"
        return part

    def grow(self, sequence: Sequence, chunk: int) -> SequenceSlice | None:
        start, num_tokens = sequence.num_computed_tokens, min(sequence.num_uncomputed_tokens, chunk)
        if not num_tokens or not self.manager.grow(sequence, num_tokens):
            return None
        self.manager.check_invariants()
        token_ids = tuple(sequence.token_ids[start : start + num_tokens])
        return SequenceSlice(sequence.sequence_id, token_ids, start, sequence.table_parts(), sample=None)

    def complete(self, plan: StepPlan) -> None:
        self.runner.run(plan)
        for sequence, part in self.parts(plan):
            computed = sequence.token_ids[: part.start_position + len(part.token_ids)]
            assert self.runner.prefixes_after(part) == {functools.reduce(longer_prefix, computed, b"")}
            sequence.num_computed_tokens += len(part.token_ids)
            self.manager.commit(sequence)

    def parts(self, plan: StepPlan) -> list[tuple[Sequence, SequenceSlice]]:
        by_id = {sequence.sequence_id: sequence for sequence in self.live}
        return [(by_id[part.sequence_id], part) for part in plan.slices]

    def end(self, sequences: Iterable[Sequence]) -> None:
        for sequence in list(sequences):
            self.texts.append(list(sequence.token_ids))
            self.manager.free(sequence)
            self.live.remove(sequence)


CacheMachine.TestCase.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestCache = CacheMachine.TestCase
