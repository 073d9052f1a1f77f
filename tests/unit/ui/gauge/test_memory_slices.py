from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pagedesk.ui.gauge.memory_slices import Segment, Slice, SliceKind, bytes_by_kind, lay_out, slices_of
from tests.helpers.snapshots import GB, MB, cached, free, memory_use, owned, shared, snapshot_of

BLOCKS = [owned("a"), owned("a"), owned("b"), shared("a", "b"), cached("b"), free()]
slices = st.lists(st.builds(Slice, st.sampled_from(list(SliceKind)), st.integers(0, 1000)), min_size=1, max_size=20)


def weights(num_bytes: int) -> Slice:
    return Slice(SliceKind.WEIGHTS, num_bytes)


def free_blocks(num_bytes: int) -> Slice:
    return Slice(SliceKind.FREE, num_bytes)


def test_each_chat_has_a_slice_of_the_blocks_it_owns_alone() -> None:
    cut = slices_of(memory_use(), snapshot_of(BLOCKS), {"a": 4, "b": 7})
    assert [one for one in cut if one.kind is SliceKind.OWNED] == [
        Slice(SliceKind.OWNED, 4 * MB, 4),
        Slice(SliceKind.OWNED, 2 * MB, 7),
    ]


def test_all_slices_together_are_the_memory_of_the_device() -> None:
    pool = snapshot_of(BLOCKS)
    assert sum(one.num_bytes for one in slices_of(pool.memory, pool, {})) == pool.memory.total_bytes


def test_what_nobody_uses_is_a_slice_of_its_own() -> None:
    use = replace(memory_use(), total_bytes=64 * GB)
    known = use.weights_bytes + use.workspace_bytes + use.pool_bytes + use.headroom_bytes + (use.others_bytes or 0)
    assert bytes_by_kind(slices_of(use, None, {}))[SliceKind.UNUSED] == 64 * GB - known


def test_what_the_machine_does_not_tell_has_no_slice() -> None:
    use = replace(memory_use(), total_bytes=None, others_bytes=None)
    assert {SliceKind.UNUSED, SliceKind.OTHERS}.isdisjoint(bytes_by_kind(slices_of(use, None, {})))


def test_no_memory_has_no_slices() -> None:
    assert slices_of(None, None, {}) == ()


def test_a_bar_is_to_scale() -> None:
    assert lay_out([weights(25), free_blocks(75)], 100, 200, 2) == (
        Segment(SliceKind.WEIGHTS, None, 0, 50),
        Segment(SliceKind.FREE, None, 50, 150),
    )


def test_slices_that_are_more_than_the_whole_fill_the_bar() -> None:
    assert lay_out([weights(100), free_blocks(100)], 100, 200, 2)[-1] == Segment(SliceKind.FREE, None, 100, 100)


def test_a_slice_under_two_pixels_is_joined_with_the_one_that_follows() -> None:
    assert lay_out([weights(1), free_blocks(99)], 100, 100, 2) == (Segment(SliceKind.FREE, None, 0, 100),)


def test_many_thin_slices_become_one_in_the_look_of_the_largest() -> None:
    thin = [Slice(SliceKind.OWNED, 4 if chat == 2 else 3, chat) for chat in range(4)]
    assert lay_out(thin, 1000, 200, 3) == (Segment(SliceKind.OWNED, 2, 0, 3),)


def test_a_thin_slice_at_the_end_is_joined_with_the_one_before_it() -> None:
    assert lay_out([weights(99), free_blocks(1)], 100, 100, 2) == (Segment(SliceKind.WEIGHTS, None, 0, 100),)


@given(slices, st.integers(1, 20_000), st.integers(1, 700))
def test_segments_follow_each_other_without_a_hole_and_stay_on_the_bar(
    cut: list[Slice], total: int, width: int
) -> None:
    segments = lay_out(cut, total, width, 2)
    ends = [0, *(one.x + one.width for one in segments)]
    assert [one.x for one in segments] == ends[:-1]
    assert ends[-1] <= width


@given(slices, st.integers(3, 700))
def test_no_segment_but_an_only_one_is_thinner_than_two_pixels(cut: list[Slice], width: int) -> None:
    segments = lay_out(cut, 0, width, 2)
    assert len(segments) <= 1 or all(one.width >= 2 for one in segments)
