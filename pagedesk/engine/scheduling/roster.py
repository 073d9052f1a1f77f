"""The requests under way and their order: who runs, who waits, who comes first.

Engine thread only. Knows no blocks and no budget.
"""

from __future__ import annotations

from collections import Counter

from pagedesk.engine.scheduling.request import Request, RequestSpec
from pagedesk.engine.scheduling.sequence import Sequence, SequenceState

_NEVER = -1


class Roster:
    """Every sequence that has not ended is running, waiting or unborn.

    The chat in focus comes first, then the higher priority. Beyond that chats take turns, however much one of them
    asks for: the first sequence of each, by arrival, then the second of each, and so on.

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
        self._num_sequences = 0
        self._num_pieces = 0
        self._newest_pieces: dict[str, int] = {}
        self._num_groups = num_groups

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._requests

    def add(self, spec: RequestSpec) -> Request:
        """Take in a request; its first sequence waits, the others are unborn."""
        sequences = tuple(self._new_sequence(spec) for _ in range(spec.num_answers))
        request = Request(spec, sequences)
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

    def answer_order(self) -> list[Sequence]:
        """The running sequences that are one token behind, by rank."""
        ranks = self._ranks()
        behind = [sequence for sequence in self.running if sequence.num_uncomputed_tokens == 1]
        return sorted(behind, key=lambda sequence: ranks[sequence.sequence_id])

    def prompt_order(self) -> list[Sequence]:
        """The sequences that are further behind, and those that wait; the chat goes first that was served longest ago.

        So a short prompt does not wait until a long one is computed.
        """
        ranks = self._ranks()
        behind = [sequence for sequence in self.running if sequence.num_uncomputed_tokens > 1]
        return sorted([*behind, *self.waiting], key=lambda sequence: self._prompt_rank(sequence, ranks))

    def waiting_order(self) -> list[Sequence]:
        """The waiting sequences, by rank."""
        ranks = self._ranks()
        return sorted(self.waiting, key=lambda sequence: ranks[sequence.sequence_id])

    def last_served(self) -> Sequence:
        """The running sequence that loses its turn first: the last one by rank."""
        ranks = self._ranks()
        return max(self.running, key=lambda sequence: ranks[sequence.sequence_id])

    def note_piece(self, sequence: Sequence) -> None:
        """A piece of its prompt is computed in this step: the other chats come before the next one."""
        self._newest_pieces[sequence.chat_id] = self._num_pieces
        self._num_pieces += 1

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
        if not self._requests:
            self._newest_pieces.clear()

    def _ranks(self) -> dict[int, tuple[bool, int, int, int]]:
        """By sequence id, smaller is served first: focus, priority, place among those of its chat, arrival."""
        num_before: Counter[str] = Counter()
        ranks = {}
        for sequence_id, (request, sequence) in self._members.items():
            chat_id = sequence.chat_id
            ranks[sequence_id] = (chat_id != self.focus, -request.spec.priority, num_before[chat_id], sequence_id)
            num_before[chat_id] += 1
        return ranks

    def _prompt_rank(
        self, sequence: Sequence, ranks: dict[int, tuple[bool, int, int, int]]
    ) -> tuple[bool, int, int, int, int]:
        is_other, priority, place, sequence_id = ranks[sequence.sequence_id]
        return is_other, priority, self._newest_pieces.get(sequence.chat_id, _NEVER), place, sequence_id

    def _leave(self, sequence: Sequence) -> None:
        if sequence.state is SequenceState.RUNNING:
            self.running.remove(sequence)
        elif sequence.state is SequenceState.WAITING:
            self.waiting.remove(sequence)

    def _new_sequence(self, spec: RequestSpec) -> Sequence:
        self._num_sequences += 1
        return Sequence(self._num_sequences - 1, spec.chat_id, spec.prompt_ids, self._num_groups)
