"""A runner without a model: its cache remembers which token was written to which slot, and complains of any mix-up.

Like a real one it knows a sequence only through the block table, so a wrong table, a block that was given away too
early or a copy that was not made ends in an assertion that names the slot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pagedesk.engine.batch import SequenceSlice, StepPlan, StepResult


@dataclass(frozen=True, slots=True)
class Slot:
    """What a slot of the cache holds: a key depends on all tokens before it, so a digest of them is part of it."""

    token_id: int
    position: int
    prefix: bytes


def prefix_digest(token_ids: Sequence[int]) -> bytes:
    return hashlib.blake2b(repr(list(token_ids)).encode(), digest_size=8).digest()


def longer_prefix(prefix: bytes, token_id: int) -> bytes:
    """The digest of a prefix with one more token."""
    return hashlib.blake2b(prefix + token_id.to_bytes(4, "little"), digest_size=8).digest()


def pick_token(token_ids: Sequence[int], vocab_size: int) -> int:
    """The next token as a pure function of the tokens before it."""
    return int.from_bytes(prefix_digest(token_ids)[:4], "little") % vocab_size


class FakeRunner:
    """Runs plans over a cache of slots; `next_token` sees the whole sequence as it is read back from the cache."""

    def __init__(
        self, num_blocks: int, block_size: int, next_token: Callable[[Sequence[int], SequenceSlice], int]
    ) -> None:
        self.plans: list[StepPlan] = []
        self.fault_if: Callable[[SequenceSlice], bool] = lambda _part: False
        self.raise_next: Exception | None = None
        self.is_closed = False
        self._block_size = block_size
        self._next_token = next_token
        self._slots: list[list[Slot | None]] = [[None] * block_size for _ in range(num_blocks)]

    def run(self, plan: StepPlan) -> StepResult:
        self.plans.append(plan)
        if self.raise_next is not None:
            error, self.raise_next = self.raise_next, None
            raise error
        self._copy(plan.copies)
        for part in plan.slices:
            self._write(part)
        histories = {part.sequence_id: self._read(part) for part in plan.slices}
        faults = frozenset(part.sequence_id for part in plan.slices if self.fault_if(part))
        tokens = {
            part.sequence_id: self._next_token(histories[part.sequence_id], part)
            for part in plan.slices
            if part.sample is not None and part.sequence_id not in faults
        }
        return StepResult(tokens, faults)

    def close(self) -> None:
        self.is_closed = True

    @property
    def num_computed_tokens(self) -> int:
        return sum(len(part.token_ids) for plan in self.plans for part in plan.slices)

    def _copy(self, copies: Sequence[tuple[int, int]]) -> None:
        destinations = {destination for _, destination in copies}
        assert len(destinations) == len(copies), "a block is copied to twice"
        assert destinations.isdisjoint(source for source, _ in copies), "the order of the copies matters"
        for source, destination in copies:
            self._slots[destination] = list(self._slots[source])

    def _write(self, part: SequenceSlice) -> None:
        prefix = b""
        for position in range(part.start_position):
            prefix = longer_prefix(prefix, self._slot(part, position).token_id)
        for position, token_id in enumerate(part.token_ids, start=part.start_position):
            block_id, place = part.block_ids[position // self._block_size], position % self._block_size
            self._slots[block_id][place] = Slot(token_id, position, prefix)
            prefix = longer_prefix(prefix, token_id)

    def _read(self, part: SequenceSlice) -> list[int]:
        tokens: list[int] = []
        prefix = b""
        for position in range(part.start_position + len(part.token_ids)):
            slot = self._slot(part, position)
            assert slot.position == position, f"{part.sequence_id}: {slot} read at {position}"
            assert slot.prefix == prefix, f"{part.sequence_id}: {slot} belongs to another text"
            tokens.append(slot.token_id)
            prefix = longer_prefix(prefix, slot.token_id)
        assert tuple(tokens[part.start_position :]) == part.token_ids, f"{part.sequence_id}: overwritten"
        return tokens

    def _slot(self, part: SequenceSlice, position: int) -> Slot:
        block_id = part.block_ids[position // self._block_size]
        slot = self._slots[block_id][position % self._block_size]
        assert slot is not None, f"sequence {part.sequence_id} reads an empty slot: block {block_id}, token {position}"
        return slot
