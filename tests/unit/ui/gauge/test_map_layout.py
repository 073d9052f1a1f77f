from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedesk.ui.gauge.map_layout import MAX_HEIGHT, CellSize, MapLayout, lay_out
from pagedesk.ui.theme import tokens

SIZES = tuple(CellSize(row["blocks"], row["cell"], row["gap"]) for row in tokens()["block_map"]["by_max_blocks"])


@pytest.mark.parametrize(
    ("num_blocks", "cell", "gap", "columns"),
    [
        (1, 10, 2, 26),
        (600, 10, 2, 26),
        (601, 7, 1, 40),
        (1_400, 7, 1, 40),
        (1_500, 7, 1, 40),
        (1_501, 5, 1, 53),
        (2_600, 5, 1, 53),
        (2_601, 4, 0, 80),
        (5_600, 4, 0, 80),
        (50_000, 4, 0, 80),
    ],
)
def test_the_number_of_blocks_chooses_the_cell_on_a_map_of_320_pixels(
    num_blocks: int, cell: int, gap: int, columns: int
) -> None:
    assert lay_out(num_blocks, 320, 1.0, SIZES) == MapLayout(num_blocks, cell, gap, columns)


@pytest.mark.parametrize(("width", "columns"), [(240, 30), (239, 30), (238, 29), (320, 40), (327, 41), (532, 66)])
def test_a_row_holds_as_many_cells_and_gaps_as_the_width_allows(width: int, columns: int) -> None:
    assert lay_out(1_000, width, 1.0, SIZES[1:2]).columns == columns


def test_a_wider_map_keeps_larger_cells_for_more_blocks() -> None:
    assert lay_out(900, 532, 1.0, SIZES).cell == 10


def test_a_narrower_map_takes_smaller_cells_rather_than_more_height() -> None:
    assert lay_out(1_400, 240, 1.0, SIZES).cell == 5


@given(st.integers(1, 4_500), st.integers(240, 532), st.sampled_from([1.0, 1.25, 1.5, 1.75, 2.0]))
def test_a_map_that_can_be_shown_whole_is_not_higher_than_allowed(num_blocks: int, width: int, ratio: float) -> None:
    assert lay_out(num_blocks, width, ratio, SIZES).height <= MAX_HEIGHT * ratio


@pytest.mark.parametrize(
    ("ratio", "cell", "gap", "columns"), [(1.25, 9, 1, 40), (1.5, 10, 2, 40), (1.75, 12, 2, 40), (2.0, 14, 2, 40)]
)
def test_at_a_scale_cell_and_gap_are_whole_device_pixels(ratio: float, cell: int, gap: int, columns: int) -> None:
    layout = lay_out(1_400, 320, ratio, SIZES)
    assert (layout.cell, layout.gap, layout.columns) == (cell, gap, columns)


def test_a_gap_never_vanishes_at_a_small_scale() -> None:
    assert lay_out(1_400, 320, 0.4, SIZES[1:2]).gap == 1


@given(st.integers(0, 1_399))
def test_the_point_where_a_cell_begins_leads_back_to_its_block(block_id: int) -> None:
    layout = MapLayout(1_400, 7, 1, 40)
    assert layout.block_at(*layout.origin(block_id)) == block_id


@pytest.mark.parametrize("point", [(-1, 0), (0, -1), (320, 0), (8 * 20, 8 * 35)])
def test_points_beside_the_cells_lead_to_no_block(point: tuple[int, int]) -> None:
    assert MapLayout(35 * 40 + 20, 7, 1, 40).block_at(*point) is None


def test_a_map_without_blocks_has_no_height() -> None:
    assert lay_out(0, 320, 1.0, SIZES).height == 0
