"""Decides what the next step computes, and takes in what it chose.

Engine thread only. There is no prompt phase and no answer phase: each running sequence has tokens that are not
computed yet, and a step deals out its budget over them. Sequences that are one token behind come first, then those
further behind and those that wait, the chats in turn. When blocks run out, the running sequence that is served last
loses its turn and is computed again later; its full blocks stay in the cache until they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pagedesk.engine.batch import SequenceSlice, StepPlan, StepResult
from pagedesk.engine.config import Allocation
from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.admission import Admission
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.outcome import Advance, StepOutcome, Wait
from pagedesk.engine.scheduling.pool_use import PoolUse
from pagedesk.engine.scheduling.request import Request, RequestSpec
from pagedesk.engine.scheduling.roster import Roster
from pagedesk.engine.scheduling.sequence import Sequence, SequenceState
from pagedesk.engine.scheduling.step_budget import Allowance, StepBudget
from pagedesk.protocol import BlockState, FinishReason


@dataclass(slots=True)
class _Draft:
    """A step that is being planned."""

    allowance: Allowance
    slices: dict[int, SequenceSlice] = field(default_factory=dict)
    has_preempted: bool = False


class Scheduler:
    """The requests under way, and what each step does for them.

    Args:
        manager: Owns the blocks.
        budget: Says how much a step computes.
        max_num_sequences: Most sequences that have the turn at once.
        max_model_len: Longest sequence that the model takes, in tokens.
        allocation: When sequences get their blocks.

    Attributes:
        prompt_tokens: Prompt tokens computed so far, once more after each lost turn.
        cached_prompt_tokens: Prompt tokens found in the cache so far.
        generated_tokens: Tokens generated so far.
        num_lost_turns: How often a sequence lost its turn so far.
    """

    def __init__(
        self,
        manager: KVCacheManager,
        budget: StepBudget,
        *,
        max_num_sequences: int,
        max_model_len: int,
        allocation: Allocation = Allocation.ON_DEMAND,
    ) -> None:
        self.prompt_tokens = 0
        self.cached_prompt_tokens = 0
        self.generated_tokens = 0
        self.num_lost_turns = 0
        self._manager = manager
        self._budget = budget
        self._max_num_sequences = max_num_sequences
        self._max_len = manager.longest_sequence(max_model_len)
        self._admission = Admission(allocation, self._max_len)
        self._roster = Roster(manager.num_groups)
        self._started: list[Request] = []
        self._waits: list[Wait] = []

    @property
    def has_work(self) -> bool:
        """Whether a step would compute anything."""
        return len(self._roster) > 0

    @property
    def max_len(self) -> int:
        """The longest sequence that the model and the whole pool allow, in tokens."""
        return self._max_len

    @property
    def num_running(self) -> int:
        """Sequences that have the turn."""
        return len(self._roster.running)

    @property
    def num_waiting(self) -> int:
        """Sequences that wait for it."""
        return len(self._roster.waiting)

    @property
    def longest_step_ms(self) -> float:
        """About how long the largest step takes now."""
        return self._budget.longest_step_ms(max((s.num_tokens for s in self._roster.running), default=0))

    def count_on(self, lost: Scheduler) -> None:
        """Take over the counters of a scheduler that this one replaces."""
        self.prompt_tokens = lost.prompt_tokens
        self.cached_prompt_tokens = lost.cached_prompt_tokens
        self.generated_tokens = lost.generated_tokens
        self.num_lost_turns = lost.num_lost_turns

    def pool_use(self) -> PoolUse:
        """What the pool is used for now."""
        pool, running = self._manager.pool, self._roster.running
        in_state = pool.map.num_in_state
        return PoolUse(
            num_running=len(running),
            num_held_blocks=in_state[BlockState.OWNED] + in_state[BlockState.SHARED],
            num_used_tokens=sum(sequence.num_computed_tokens for sequence in running),
            num_lost_turns=self.num_lost_turns,
            num_evicted_blocks=pool.evictions.num_noted,
        )

    def set_focus(self, chat_id: str | None) -> None:
        """Serve this chat first when not all can be."""
        self._roster.focus = chat_id

    def add(self, spec: RequestSpec) -> Request:
        """Take in a request; it waits until a step admits it.

        Raises:
            InvalidRequestError: The id is in use, or the prompt does not fit the whole pool.
        """
        if spec.request_id in self._roster:
            raise InvalidRequestError(f"A request named {spec.request_id!r} is under way.", "Use a new name for each.")
        self._refuse_if_too_long(len(spec.prompt_ids))
        return self._roster.add(spec)

    def abort(self, request_id: str) -> list[int]:
        """End a request now and give its blocks back.

        Returns:
            The indices of its answers that had not ended; empty for an unknown request.
        """
        request = self._roster.find(request_id)
        if request is None:
            return []
        unended = [i for i, sequence in enumerate(request.sequences) if sequence.state is not SequenceState.ENDED]
        for index in unended:
            self._end(request.sequences[index])
        return unended

    def end_answer(self, request: Request, answer_index: int) -> None:
        """End one answer whose text is complete, unless it has ended; the others go on."""
        sequence = request.sequences[answer_index]
        if sequence.state is not SequenceState.ENDED:
            self._end(sequence)

    # Planning a step.

    def schedule(self) -> StepPlan:
        """Plan the next step; it computes something whenever there is work."""
        answers = self._roster.answer_order()
        draft = _Draft(self._budget.open(has_answers=bool(answers)))
        for sequence in answers:
            if sequence.state is SequenceState.RUNNING and draft.allowance.take_answer():
                self._serve(sequence, 1, draft)
        self._serve_prompts(draft)
        assert draft.slices or not self.has_work, "there is work, and a step that does none of it"
        return StepPlan(tuple(draft.slices.values()), self._manager.take_copies())

    def note_time(self, plan: StepPlan, ms: float) -> None:
        """Say how long a step took: the budget of the next ones depends on it."""
        self._budget.note(plan, ms)

    def _serve_prompts(self, draft: _Draft) -> None:
        """Serve those that are further behind and let others in, in turn; once one cannot come in, no other does.

        Nobody comes in after a turn was taken away in this step. Who comes in is served at once: a block that is
        copied for him would else be taken for computed if the step failed.
        """
        may_admit = True
        for sequence in self._roster.prompt_order():
            if draft.allowance.is_spent:
                return
            if sequence.state is SequenceState.WAITING:
                may_admit = may_admit and not draft.has_preempted and self._admit(sequence)
            if sequence.state is SequenceState.RUNNING:
                num_tokens = draft.allowance.take_prompt(sequence.num_uncomputed_tokens, sequence.num_computed_tokens)
                self._roster.note_piece(sequence)
                self._serve(sequence, num_tokens, draft)

    def _serve(self, sequence: Sequence, num_tokens: int, draft: _Draft) -> None:
        while not self._manager.grow(sequence, num_tokens):
            victim = self._roster.last_served()
            self._preempt(victim, draft)
            if victim is sequence:
                draft.allowance.give_back(num_tokens)
                return
        self._add_slice(sequence, num_tokens, draft)

    def _add_slice(self, sequence: Sequence, num_tokens: int, draft: _Draft) -> None:
        start = sequence.num_computed_tokens
        end = start + num_tokens
        sample = self._roster.request_of(sequence).sample_spec(sequence) if end == sequence.num_tokens else None
        draft.slices[sequence.sequence_id] = SequenceSlice(
            sequence.sequence_id, tuple(sequence.token_ids[start:end]), start, sequence.table_parts(), sample
        )

    def _preempt(self, sequence: Sequence, draft: _Draft) -> None:
        lost = draft.slices.pop(sequence.sequence_id, None)
        if lost is not None:
            draft.allowance.give_back(len(lost.token_ids))
        draft.has_preempted = True
        self.num_lost_turns += 1
        self._manager.free(sequence)
        self._roster.let_wait(sequence)
        self._announce_wait(sequence)

    def _admit(self, sequence: Sequence) -> bool:
        if self.num_running >= self._max_num_sequences:
            return False
        if not self._give_blocks(sequence):
            for waiting in self._roster.waiting_order():
                self._announce_wait(waiting)
            return False
        self._start(sequence)
        return True

    def _give_blocks(self, sequence: Sequence) -> bool:
        """Give a newcomer the blocks for all its tokens, and those that it is to reserve."""
        request = self._roster.request_of(sequence)
        num_reserved = self._admission.reserved_tokens(request.spec)
        num_more = self._manager.blocks_for(num_reserved) - self._manager.blocks_for(sequence.num_tokens)
        num_spare = self._manager.num_groups * self._admission.spare_tables(self.num_running, len(request.unborn))
        if not self._manager.admit(sequence, max(num_more, num_spare)):
            return False
        if num_more > 0 and not self._manager.grow(sequence, num_reserved - sequence.num_computed_tokens):
            self._manager.free(sequence)
            return False
        return True

    def _start(self, sequence: Sequence) -> None:
        self._roster.run(sequence)
        request = self._roster.request_of(sequence)
        request.is_announced_as_waiting = False
        if request.cached_tokens is None:
            request.cached_tokens = sequence.num_computed_tokens
            request.miss_reason = self._manager.explain_miss(sequence)
            self.cached_prompt_tokens += sequence.num_computed_tokens
            self._started.append(request)

    def _announce_wait(self, sequence: Sequence) -> None:
        request = self._roster.request_of(sequence)
        if request.is_announced_as_waiting or request.has_turn:
            return
        request.is_announced_as_waiting = True
        needed = self._manager.blocks_for(sequence.num_tokens)
        self._waits.append(Wait(request, needed, self._manager.pool.num_available))

    # Taking in what a step chose.

    def update(self, plan: StepPlan, result: StepResult) -> StepOutcome:
        """Take in what a step computed and chose: keys for full blocks, forks, new tokens, ends."""
        faulted = self._abort_requests_of(plan, _faulty_ids(plan, result))
        advances: list[Advance] = []
        for part in plan.slices:
            member = self._roster.member(part.sequence_id)
            if member is None:
                continue
            request, sequence = member
            self._note_computed(sequence, part)
            if part.sample is not None:
                advances.append(self._append(request, sequence, result.tokens[part.sequence_id]))
        return self._outcome(advances, faulted)

    def fail(self, plan: StepPlan) -> list[Request]:
        """Abort every request that had a part in a step that went wrong; nothing of the step counts."""
        self._started.clear()
        return self._abort_requests_of(plan, {part.sequence_id for part in plan.slices})

    def _outcome(self, advances: list[Advance], faulted: list[Request]) -> StepOutcome:
        started = [request for request in self._started if request not in faulted]
        waits = [wait for wait in self._waits if wait.request.spec.request_id in self._roster]
        self._started.clear()
        self._waits.clear()
        return StepOutcome(tuple(started), tuple(waits), tuple(advances), tuple(faulted))

    def _abort_requests_of(self, plan: StepPlan, sequence_ids: set[int]) -> list[Request]:
        members = [self._roster.member(part.sequence_id) for part in plan.slices if part.sequence_id in sequence_ids]
        requests: dict[int, Request] = {}
        for request, sequence in filter(None, members):
            requests[id(request)] = request
            self._manager.distrust(sequence)
        for request in requests.values():
            self.abort(request.spec.request_id)
        return list(requests.values())

    def _note_computed(self, sequence: Sequence, part: SequenceSlice) -> None:
        sequence.num_computed_tokens += len(part.token_ids)
        prompt_end = max(sequence.num_prompt_tokens, part.start_position)
        num_after_prompt = max(sequence.num_computed_tokens - prompt_end, 0)
        self.prompt_tokens += len(part.token_ids) - num_after_prompt
        self._manager.commit(sequence)

    def _append(self, request: Request, sequence: Sequence, token_id: int) -> Advance:
        self._fork_siblings(request)
        sequence.token_ids.append(token_id)
        self.generated_tokens += 1
        finish = self._finish_reason(request.spec, sequence)
        if finish is not None:
            self._end(sequence)
        return Advance(request, request.sequences.index(sequence), token_id, finish)

    def _fork_siblings(self, request: Request) -> None:
        """Bring the siblings to life: they share all but the last prompt token, which gives each its first draw."""
        for sibling in request.unborn:
            has_turn = self.num_running < self._max_num_sequences
            if has_turn and self._manager.fork(request.first, sibling, sibling.num_prompt_tokens - 1):
                self._roster.run(sibling)
            else:
                self._roster.let_wait(sibling)

    def _finish_reason(self, spec: RequestSpec, sequence: Sequence) -> FinishReason | None:
        if sequence.token_ids[-1] in spec.stop_ids:
            return FinishReason.STOP
        if spec.params.max_tokens is not None and sequence.num_generated_tokens >= spec.params.max_tokens:
            return FinishReason.LENGTH
        return FinishReason.CONTEXT if sequence.num_tokens >= self._max_len else None

    def _end(self, sequence: Sequence) -> None:
        if sequence.state is SequenceState.RUNNING:
            self._manager.free(sequence)
        self._roster.end(sequence)

    def _refuse_if_too_long(self, num_tokens: int) -> None:
        needed, available = self._manager.blocks_for(num_tokens), self._manager.num_blocks
        if needed > available:
            raise InvalidRequestError(
                f"The prompt is {num_tokens:,} tokens and needs {needed:,} blocks of memory; "
                f"the pool has {available:,}.",
                "Give PageDesk more memory, choose a smaller model, or shorten the chat.",
            )


def _faulty_ids(plan: StepPlan, result: StepResult) -> set[int]:
    wanted = {part.sequence_id for part in plan.slices if part.sample is not None}
    return (wanted - result.tokens.keys()) | result.faults
