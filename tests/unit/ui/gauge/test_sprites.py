from __future__ import annotations

import pytest

from pagedesk.ui.gauge import looks, sprites
from pagedesk.ui.gauge.palette import MapPalette
from pagedesk.ui.gauge.sprites import FadeTimes, blend, hatch_mask, make_atlas, make_sprites, outline_mask, pattern_mask
from pagedesk.ui.theme import Scheme, Theme

THEME = Theme(Scheme.DARK)
PALETTE = MapPalette.of(THEME)
TIMES = FadeTimes(frame_ms=100, flash_ms=240, freed_ms=320)


def picture(mask: sprites.Mask) -> list[str]:
    return ["".join("#" if pixel else "." for pixel in row) for row in mask]


def test_a_hatch_is_diagonal_stripes_of_two_pixels_in_a_cell_of_seven() -> None:
    assert picture(hatch_mask(7)) == [
        "##..##.",
        "#..##..",
        "..##..#",
        ".##..##",
        "##..##.",
        "#..##..",
        "..##..#",
    ]


@pytest.mark.parametrize(("cell", "stripe"), [(5, 2), (10, 2), (14, 3), (22, 4)])
def test_stripes_grow_with_the_cell(cell: int, stripe: int) -> None:
    assert picture(hatch_mask(cell))[0][: 2 * stripe] == "#" * stripe + "." * stripe


def test_below_five_pixels_a_hatch_is_a_checkerboard() -> None:
    assert picture(hatch_mask(4)) == ["##..", "##..", "..##", "..##"]


@pytest.mark.parametrize(("cell", "width"), [(5, 1), (7, 1), (13, 1), (14, 2), (22, 2)])
def test_an_outline_is_one_pixel_wide_and_from_fourteen_on_two(cell: int, width: int) -> None:
    middle = picture(outline_mask(cell))[cell // 2]
    assert middle == "#" * width + "." * (cell - 2 * width) + "#" * width


@pytest.mark.parametrize("color_index", range(6, 12))
def test_in_a_cell_of_seven_a_pattern_is_its_mask(color_index: int) -> None:
    assert tuple(picture(pattern_mask(THEME.pattern(color_index), 7))) == THEME.pattern(color_index)


def test_in_a_cell_of_fourteen_each_point_of_a_pattern_is_four_pixels() -> None:
    mask = picture(pattern_mask(THEME.pattern(6), 14))
    assert mask[::2] == mask[1::2]
    assert all(row[::2] == row[1::2] for row in mask)


@pytest.mark.parametrize("color_index", range(6))
def test_the_first_six_colours_fill_their_cells(color_index: int) -> None:
    sprite = make_sprites(PALETTE, 7)[looks.OWNED + color_index]
    assert set(sprite.ravel().tolist()) == {THEME.chat_color(color_index).rgb()}


@pytest.mark.parametrize("color_index", range(6, 12))
def test_the_other_colours_carry_a_pattern_on_the_background(color_index: int) -> None:
    sprite = make_sprites(PALETTE, 7)[looks.OWNED + color_index]
    assert set(sprite.ravel().tolist()) == {THEME.chat_color(color_index).rgb(), PALETTE.background}


def test_a_cached_cell_is_free_inside_its_outline() -> None:
    sprite = make_sprites(PALETTE, 7)[looks.CACHED + 4]
    assert sprite[0].tolist() == [PALETTE.chats[4]] * 7
    assert set(sprite[1:-1, 1:-1].ravel().tolist()) == {PALETTE.free}


def test_a_small_cached_cell_is_its_colour_at_42_percent() -> None:
    sprite = make_sprites(PALETTE, 4)[looks.CACHED + 4]
    assert set(sprite.ravel().tolist()) == {int(blend(PALETTE.free, PALETTE.chats[4], 0.42))}


def test_what_many_share_is_hatched_in_the_colour_of_many() -> None:
    sprite = make_sprites(PALETTE, 7)[looks.SHARED_BY_MANY]
    assert set(sprite.ravel().tolist()) == {PALETTE.many, PALETTE.background}


def test_a_sprite_ends_with_its_gap() -> None:
    sprite = make_atlas(PALETTE, 7, 1, TIMES)[sprites.STILL, looks.OWNED]
    assert set(sprite[7, :].tolist() + sprite[:, 7].tolist()) == {PALETTE.background}


@pytest.mark.parametrize(("step", "strength"), [(0, 0.75), (1, 0.4375), (2, 0.125)])
def test_a_flash_lies_over_the_cell_and_fades_within_240_ms(step: int, strength: float) -> None:
    atlas = make_atlas(PALETTE, 7, 1, TIMES)
    assert atlas[sprites.FLASH + step, looks.OWNED, 3, 3] == blend(PALETTE.chats[0], PALETTE.flash, strength)


@pytest.mark.parametrize(("step", "strength"), [(0, 0.6875), (1, 0.375), (2, 0.0625)])
def test_a_freed_cell_fades_to_free_within_320_ms(step: int, strength: float) -> None:
    atlas = make_atlas(PALETTE, 7, 1, TIMES)
    assert atlas[sprites.FREED + step, looks.OWNED, 3, 3] == blend(PALETTE.free, PALETTE.chats[0], strength)


def test_a_blend_goes_from_one_colour_to_the_other() -> None:
    mixed = [int(blend(0xFF000000, 0xFFFF8040, strength)) for strength in (0, 0.5, 1)]
    assert mixed == [0xFF000000, 0xFF804020, 0xFFFF8040]
