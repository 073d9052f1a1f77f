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
    group_index: int


def prefix_digest(token_ids: Sequence[int]) -> bytes:
    return hashlib.blake2b(repr(list(token_ids)).encode(), digest_size=8).digest()


def longer_prefix(prefix: bytes, token_id: int) -> bytes:
    """The digest of a prefix with one more token."""
    return hashlib.blake2b(prefix + token_id.to_bytes(4, "little"), digest_size=8).digest()


def pick_token(token_ids: Sequence[int], vocab_size: int) -> int:
    """The next token as a pure function of the tokens before it."""
    return int.from_bytes(prefix_digest(token_ids)[:4], "little") % vocab_size


class FakeRunner:
    """Runs plans over a cache of slots; `next_token` sees the sequence as it is read back from the first group.

    Like layers do, each group of `windows` reads what its window covers before the tokens of the step, and no more.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        next_token: Callable[[Sequence[int], SequenceSlice], int],
        windows: Sequence[int | None] = (None,),
    ) -> None:
        self.plans: list[StepPlan] = []
        self.fault_if: Callable[[SequenceSlice], bool] = lambda _part: False
        self.raise_next: Exception | None = None
        self.is_closed = False
        self._block_size = block_size
        self._next_token = next_token
        self._windows = windows
        self._slots: list[list[Slot | None]] = [[None] * block_size for _ in range(num_blocks)]

    def run(self, plan: StepPlan) -> StepResult:
        self.plans.append(plan)
        if self.raise_next is not None:
            error, self.raise_next = self.raise_next, None
            raise error
        self._copy(plan.copies)
        groups = range(len(self._windows))
        for part in plan.slices:
            assert len(part.tables) == len(groups), "a table for each group"
            for group_index in groups:
                self._write(part, group_index)
        histories = {part.sequence_id: self._read_all(part) for part in plan.slices}
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

    def _write(self, part: SequenceSlice, group_index: int) -> None:
        prefix = self._prefix_before(part, group_index)
        for position, token_id in enumerate(part.token_ids, start=part.start_position):
            block_id, place = self._address(part, position, group_index)
            self._slots[block_id][place] = Slot(token_id, position, prefix, group_index)
            prefix = longer_prefix(prefix, token_id)

    def _prefix_before(self, part: SequenceSlice, group_index: int) -> bytes:
        """What stood before the tokens of a step; a window of one token sees none of it, but the first group does."""
        if not part.start_position:
            return b""
        sees_none = self._first_read(part, group_index) == part.start_position
        before = self._slot(part, part.start_position - 1, 0 if sees_none else group_index)
        return longer_prefix(before.prefix, before.token_id)

    def prefixes_after(self, part: SequenceSlice) -> set[bytes]:
        """Digests of the whole text up to the end of a step, one for each group; they should all be the same."""
        end = part.start_position + len(part.token_ids) - 1
        slots = [self._slot(part, end, group_index) for group_index in range(len(self._windows))]
        return {longer_prefix(slot.prefix, slot.token_id) for slot in slots}

    def _read_all(self, part: SequenceSlice) -> list[int]:
        first, *_ = [self._read(part, group_index) for group_index in range(len(self._windows))]
        return first

    def _read(self, part: SequenceSlice, group_index: int) -> list[int]:
        tokens: list[int] = []
        start = self._first_read(part, group_index)
        prefix = self._slot(part, start, group_index).prefix if start else b""
        for position in range(start, part.start_position + len(part.token_ids)):
            slot = self._slot(part, position, group_index)
            assert slot.position == position, f"{part.sequence_id}: {slot} read at {position}"
            assert slot.prefix == prefix, f"{part.sequence_id}: {slot} belongs to another text"
            assert slot.group_index == group_index, f"{part.sequence_id}: {slot} belongs to another group"
            tokens.append(slot.token_id)
            prefix = longer_prefix(prefix, slot.token_id)
        assert tuple(tokens[part.start_position - start :]) == part.token_ids, f"{part.sequence_id}: overwritten"
        return tokens

    def _first_read(self, part: SequenceSlice, group_index: int) -> int:
        window = self._windows[group_index]
        return 0 if window is None else max(0, part.start_position - window + 1)

    def _address(self, part: SequenceSlice, position: int, group_index: int) -> tuple[int, int]:
        block_ids, first_index = part.tables[group_index]
        index = position // self._block_size - first_index
        assert index >= 0, f"sequence {part.sequence_id} looks for token {position} before block {first_index}"
        return block_ids[index], position % self._block_size

    def _slot(self, part: SequenceSlice, position: int, group_index: int) -> Slot:
        block_id, place = self._address(part, position, group_index)
        slot = self._slots[block_id][place]
        assert slot is not None, f"sequence {part.sequence_id} reads an empty slot: block {block_id}, token {position}"
        return slot
