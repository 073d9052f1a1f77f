"""A request: what was asked, and the sequences that answer it.

Engine thread only. Plain values; who computes when is the scheduler's business.
"""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.engine.batch import SampleSpec
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
    """

    request_id: str
    chat_id: str
    prompt_ids: tuple[int, ...]
    params: SamplingParams
    seed: int
    stop_ids: frozenset[int] = frozenset()
    num_answers: int = 1
    priority: int = 0


@dataclass(slots=True, eq=False)
class Request:
    """A request under way.

    Attributes:
        spec: What was asked.
        sequences: By answer index; all but the first are unborn until the prompt is computed.
        cached_tokens: Prompt tokens that were in the cache when it got its turn; None before.
        miss_reason: Why the cache did not have more of it; None if it had all that it could.
        is_announced_as_waiting: Whether the sender knows that it waits for blocks.
    """

    spec: RequestSpec
    sequences: tuple[Sequence, ...]
    cached_tokens: int | None = None
    miss_reason: MissReason | None = None
    is_announced_as_waiting: bool = False

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
        seed = (self.spec.seed + self.sequences.index(sequence)) % SEED_LIMIT
        return SampleSpec(self.spec.params, seed, sequence.num_generated_tokens)
