"""The requests under way and their order: who runs, who waits, who comes first.

Engine thread only. Knows no blocks and no budget.
"""

from __future__ import annotations

from pagedesk.engine.scheduling.request import Request, RequestSpec
from pagedesk.engine.scheduling.sequence import Sequence, SequenceState

Rank = tuple[bool, int, int, int]


class Roster:
    """Every sequence that has not ended is running, waiting or unborn.

    Args:
        num_groups: Block tables that a sequence has.

    Attributes:
        focus: The chat that comes first.
        running: The sequences that have the turn, in the order in which they got it.
        waiting: The sequences that wait for it.
    """

    def __init__(self, num_groups: int = 1) -> None:
        self.focus: str | None = None
        self.running: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self._requests: dict[str, Request] = {}
        self._members: dict[int, tuple[Request, Sequence]] = {}
        self._num_arrivals = 0
        self._num_sequences = 0
        self._num_groups = num_groups

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._requests

    def add(self, spec: RequestSpec) -> Request:
        """Take in a request; its first sequence waits, the others are unborn."""
        sequences = tuple(self._new_sequence(spec) for _ in range(spec.num_answers))
        request = Request(spec, self._num_arrivals, sequences)
        self._num_arrivals += 1
        self._requests[spec.request_id] = request
        self._members.update((sequence.sequence_id, (request, sequence)) for sequence in sequences)
        self.let_wait(request.first)
        return request

    def find(self, request_id: str) -> Request | None:
        """The request under way with this id."""
        return self._requests.get(request_id)

    def member(self, sequence_id: int) -> tuple[Request, Sequence] | None:
        """The sequence with this id and its request, unless it has ended."""
        return self._members.get(sequence_id)

    def request_of(self, sequence: Sequence) -> Request:
        """The request of a sequence that has not ended."""
        return self._members[sequence.sequence_id][0]

    def rank(self, sequence: Sequence) -> Rank:
        """Smaller is served first: the chat in focus, then priority, then arrival."""
        request = self.request_of(sequence)
        return sequence.chat_id != self.focus, -request.spec.priority, request.arrival_index, sequence.sequence_id

    def service_order(self) -> list[Sequence]:
        """The running sequences: those one token behind first, so that no answer stalls behind a prompt."""
        return sorted(self.running, key=lambda sequence: (sequence.num_uncomputed_tokens > 1, self.rank(sequence)))

    def admission_order(self) -> list[Sequence]:
        """The waiting sequences, by rank."""
        return sorted(self.waiting, key=self.rank)

    def last_served(self) -> Sequence:
        """The running sequence that loses its turn first."""
        return max(self.running, key=self.rank)

    def run(self, sequence: Sequence) -> None:
        """Give a sequence the turn."""
        self._leave(sequence)
        sequence.state = SequenceState.RUNNING
        self.running.append(sequence)

    def let_wait(self, sequence: Sequence) -> None:
        """Let a sequence wait for its turn."""
        self._leave(sequence)
        sequence.state = SequenceState.WAITING
        self.waiting.append(sequence)

    def end(self, sequence: Sequence) -> None:
        """A sequence has ended; its request has when all have."""
        request = self.request_of(sequence)
        self._leave(sequence)
        sequence.state = SequenceState.ENDED
        del self._members[sequence.sequence_id]
        if request.is_ended:
            del self._requests[request.spec.request_id]

    def _leave(self, sequence: Sequence) -> None:
        if sequence.state is SequenceState.RUNNING:
            self.running.remove(sequence)
        elif sequence.state is SequenceState.WAITING:
            self.waiting.remove(sequence)

    def _new_sequence(self, spec: RequestSpec) -> Sequence:
        self._num_sequences += 1
        return Sequence(self._num_sequences - 1, spec.chat_id, spec.prompt_ids, self._num_groups)
