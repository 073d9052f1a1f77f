"""A request: what was asked, and the sequences that answer it.

Engine thread only. Plain values; who computes when is the scheduler's business.
"""

from __future__ import annotations

from collections.abc import Sequence as Run
from dataclasses import dataclass, field

from pagedesk.engine.batch import SampleSpec
from pagedesk.engine.sampling.look_back import LookBack, looks_back
from pagedesk.engine.scheduling.sequence import Sequence, SequenceState
from pagedesk.protocol import MissReason, SamplingParams

SEED_LIMIT = 2**63


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """A request in tokens.

    Attributes:
        request_id: Chosen by the sender.
        chat_id: Whose blocks these will be.
        prompt_ids: The whole prompt, at least one token.
        params: How tokens are chosen.
        seed: Of the first answer; answer i uses `seed + i`.
        stop_ids: Tokens that end an answer.
        num_answers: Sequences to compute.
        priority: Larger is served first when not all can be.
        is_unedited: The chat goes on from what its last request held, unchanged by hand.
        table: The bytes of each token, by id; needed where DRY is on.
    """

    request_id: str
    chat_id: str
    prompt_ids: tuple[int, ...]
    params: SamplingParams
    seed: int
    stop_ids: frozenset[int] = frozenset()
    num_answers: int = 1
    priority: int = 0
    is_unedited: bool = False
    table: Run[bytes] = field(default=(), repr=False)


@dataclass(slots=True, eq=False)
class Request:
    """A request under way.

    Attributes:
        spec: What was asked.
        sequences: By answer index; all but the first are unborn until the prompt is computed.
        cached_tokens: Prompt tokens that were in the cache when it got its turn; None before.
        miss_reason: Why the cache did not have more of it; None if it had all that it could.
        is_announced_as_waiting: Whether the sender knows that it waits for blocks.
        look_backs: What the penalties remember, by answer index; empty where none is on.
    """

    spec: RequestSpec
    sequences: tuple[Sequence, ...]
    cached_tokens: int | None = None
    miss_reason: MissReason | None = None
    is_announced_as_waiting: bool = False
    look_backs: dict[int, LookBack] = field(default_factory=dict)

    @property
    def first(self) -> Sequence:
        """The sequence that computes the prompt for all."""
        return self.sequences[0]

    @property
    def unborn(self) -> tuple[Sequence, ...]:
        """The sequences that wait for the prompt to be computed."""
        return tuple(sequence for sequence in self.sequences if sequence.state is SequenceState.UNBORN)

    @property
    def has_turn(self) -> bool:
        """Whether any of its sequences is running."""
        return any(sequence.state is SequenceState.RUNNING for sequence in self.sequences)

    @property
    def is_ended(self) -> bool:
        """Whether every sequence has ended."""
        return all(sequence.state is SequenceState.ENDED for sequence in self.sequences)

    def sample_spec(self, sequence: Sequence) -> SampleSpec:
        """How the next token of this sequence is chosen."""
        params, answer_index = self.spec.params, self.sequences.index(sequence)
        seed = (self.spec.seed + answer_index) % SEED_LIMIT
        if not looks_back(params):
            return SampleSpec(params, seed, sequence.num_generated_tokens)
        if answer_index not in self.look_backs:
            self.look_backs[answer_index] = LookBack(params, self.spec.table)
        repetition = self.look_backs[answer_index].look(sequence.token_ids)
        return SampleSpec(params, seed, sequence.num_generated_tokens, repetition)
