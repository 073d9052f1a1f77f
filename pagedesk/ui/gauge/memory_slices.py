"""The memory of the device, cut into what it is used for, and where each slice stands on a bar.

Pure arithmetic; no Qt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pagedesk.protocol import MemoryUse, PoolSnapshot


class SliceKind(StrEnum):
    """What a part of the memory is used for, in the order of the bar."""

    WEIGHTS = "weights"
    WORKSPACE = "workspace"
    OWNED = "pool_owned"
    SHARED = "pool_shared"
    CACHED = "pool_cached"
    FREE = "pool_free"
    UNUSED = "unused"
    OTHERS = "others"
    HEADROOM = "headroom"

    @property
    def is_pool(self) -> bool:
        """Whether blocks of the pool are in it; these stand side by side without a gap."""
        return self.value.startswith("pool_")


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes of one kind; a slice of owned blocks belongs to one chat."""

    kind: SliceKind
    num_bytes: int
    color_index: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice on the bar: `x` and `width` in device pixels."""

    kind: SliceKind
    color_index: int | None
    x: int
    width: int


def slices_of(
    memory: MemoryUse | None, pool: PoolSnapshot | None, color_of_chat: Mapping[str, int]
) -> tuple[Slice, ...]:
    """The slices of what is known, in the order of the bar; no slice where the machine does not tell."""
    if memory is None:
        return ()
    slices = [Slice(SliceKind.WEIGHTS, memory.weights_bytes), Slice(SliceKind.WORKSPACE, memory.workspace_bytes)]
    if pool is None:
        slices.append(Slice(SliceKind.FREE, memory.pool_bytes))
    else:
        slices += _pool_slices(pool, color_of_chat)
    others = [] if memory.others_bytes is None else [Slice(SliceKind.OTHERS, memory.others_bytes)]
    others.append(Slice(SliceKind.HEADROOM, memory.headroom_bytes))
    if memory.total_bytes is not None and memory.others_bytes is not None:
        used = sum(one.num_bytes for one in (*slices, *others))
        slices.append(Slice(SliceKind.UNUSED, max(0, memory.total_bytes - used)))
    return (*slices, *others)


def bytes_by_kind(slices: Sequence[Slice]) -> dict[SliceKind, int]:
    """The bytes of each kind that has a slice."""
    sums: dict[SliceKind, int] = {}
    for one in slices:
        sums[one.kind] = sums.get(one.kind, 0) + one.num_bytes
    return sums


def lay_out(slices: Sequence[Slice], total_bytes: int, width: int, min_width: int) -> tuple[Segment, ...]:
    """Where the slices stand on a bar.

    Slices narrower than `min_width` are joined with what follows until they are wide enough (the last one with what
    precedes it) and take the look of the largest among them, so that no position is off by more than `min_width`.

    Args:
        slices: From left to right.
        total_bytes: What the whole bar stands for; if the slices are more, they fill it.
        width: Of the bar, in device pixels.
        min_width: Of a segment, in device pixels.
    """
    scale = width / max(1, total_bytes, sum(one.num_bytes for one in slices))
    segments: list[Segment] = []
    for group, x, right in _groups(slices, scale, min_width):
        largest = max(group, key=lambda one: one.num_bytes)
        if right - x >= min_width or not segments:
            segments.append(Segment(largest.kind, largest.color_index, x, right - x))
        else:
            before = segments.pop()
            segments.append(Segment(before.kind, before.color_index, before.x, right - before.x))
    return tuple(segments)


def _pool_slices(pool: PoolSnapshot, color_of_chat: Mapping[str, int]) -> list[Slice]:
    size = pool.block_bytes
    owned = [
        Slice(SliceKind.OWNED, chat.num_owned * size, color_of_chat.get(chat.chat_id))
        for chat in pool.chats
        if chat.num_owned
    ]
    counts = ((SliceKind.SHARED, pool.num_shared), (SliceKind.CACHED, pool.num_cached), (SliceKind.FREE, pool.num_free))
    owned = owned or [Slice(SliceKind.OWNED, 0)]
    return owned + [Slice(kind, number * size) for kind, number in counts]


def _groups(slices: Sequence[Slice], scale: float, min_width: int) -> Iterator[tuple[list[Slice], int, int]]:
    """Runs of slices that are drawn as one segment, each with its left and right edge."""
    group: list[Slice] = []
    left, end_bytes = 0, 0
    for one in slices:
        if not one.num_bytes:
            continue
        group.append(one)
        end_bytes += one.num_bytes
        right = round(end_bytes * scale)
        if right - left >= min_width:
            yield group, left, right
            group, left = [], right
    if group:
        yield group, left, round(end_bytes * scale)
