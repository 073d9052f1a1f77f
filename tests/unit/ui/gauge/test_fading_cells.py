from __future__ import annotations

import numpy as np

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge import looks, sprites
from pagedesk.ui.gauge.fading_cells import FadingCells
from pagedesk.ui.gauge.looks import Looks

OWNED, CACHED = looks.OWNED + 2, looks.CACHED + 2


def array(*values: int) -> Looks:
    return np.array(values, np.uint8)


def shown(cells: FadingCells) -> list[tuple[int, int]]:
    phases, cell_looks = cells.sprites_of(np.arange(len(cells)))
    return list(zip(phases.tolist(), cell_looks.tolist(), strict=True))


def test_the_first_looks_are_still() -> None:
    assert shown(FadingCells(array(looks.FREE, OWNED))) == [(sprites.STILL, looks.FREE), (sprites.STILL, OWNED)]


def test_only_cells_that_changed_are_told() -> None:
    cells = FadingCells(array(looks.FREE, OWNED, CACHED))
    assert cells.update(array(OWNED, OWNED, OWNED)).tolist() == [0, 2]


def test_a_taken_block_flashes_for_three_frames_and_is_still_then() -> None:
    cells = FadingCells(array(looks.FREE))
    cells.update(array(OWNED))
    seen = [shown(cells)[0]]
    while cells.is_fading:
        cells.advance()
        seen += shown(cells)
    assert seen == [(sprites.FLASH + step, OWNED) for step in range(3)] + [(sprites.STILL, OWNED)]


def test_a_freed_block_fades_from_the_look_it_had() -> None:
    cells = FadingCells(array(CACHED))
    cells.update(array(looks.FREE))
    seen = [shown(cells)[0]]
    while cells.is_fading:
        cells.advance()
        seen += shown(cells)
    assert seen == [(sprites.FREED + step, CACHED) for step in range(3)] + [(sprites.STILL, looks.FREE)]


def test_a_block_that_goes_from_owned_to_cached_does_not_fade() -> None:
    cells = FadingCells(array(OWNED))
    cells.update(array(CACHED))
    assert not cells.is_fading


def test_a_frame_tells_only_the_cells_that_fade() -> None:
    cells = FadingCells(array(looks.FREE, OWNED))
    cells.update(array(OWNED, OWNED))
    assert cells.advance().tolist() == [0]


def test_a_block_taken_while_it_fades_flashes_from_the_start() -> None:
    cells = FadingCells(array(OWNED))
    cells.update(array(looks.FREE))
    cells.advance()
    cells.update(array(OWNED))
    assert shown(cells) == [(sprites.FLASH, OWNED)]


def test_replaced_looks_do_not_fade() -> None:
    cells = FadingCells(array(looks.FREE))
    cells.replace(array(OWNED, OWNED))
    assert not cells.is_fading


def test_counts_follow_the_updates() -> None:
    cells = FadingCells(array(looks.FREE, looks.FREE, CACHED))
    cells.update(array(OWNED, looks.FREE, OWNED))
    assert [cells.count(state) for state in BlockState] == [1, 2, 0, 0]
