from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pagedesk.ui.gauge.memory_bar import MemoryBar
from pagedesk.ui.gauge.memory_slices import Slice, SliceKind
from pagedesk.ui.theme import Scheme, Theme

if TYPE_CHECKING:
    from PySide6.QtGui import QColor
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

DARK, LIGHT = Theme(Scheme.DARK), Theme(Scheme.LIGHT)
SLICES = [
    Slice(SliceKind.WEIGHTS, 100),
    Slice(SliceKind.WORKSPACE, 20),
    Slice(SliceKind.OWNED, 40, 2),
    Slice(SliceKind.OWNED, 20, 4),
    Slice(SliceKind.SHARED, 20),
    Slice(SliceKind.CACHED, 40),
    Slice(SliceKind.FREE, 40),
    Slice(SliceKind.OTHERS, 20),
    Slice(SliceKind.HEADROOM, 20),
]


@pytest.fixture
def bar(qtbot: QtBot) -> MemoryBar:
    bar = MemoryBar(DARK)
    qtbot.addWidget(bar)
    bar.resize(320, 20)
    bar.show_slices(SLICES, 320)
    return bar


def color_at(bar: MemoryBar, x: int, y: int = 10) -> QColor:
    return bar.grab().toImage().pixelColor(x, y)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize(
    ("x", "token"),
    [(50, "bar_weights"), (110, "bar_workspace"), (240, "map_free"), (290, "bar_other"), (310, "bg_sidebar")],
)
def test_each_use_has_its_colour_where_it_stands(bar: MemoryBar, theme: Theme, x: int, token: str) -> None:
    bar.set_theme(theme)
    assert color_at(bar, x) == theme.color(token)


@pytest.mark.parametrize(("x", "color_index"), [(121, 2), (159, 2), (160, 4), (179, 4)])
def test_each_chat_has_a_slice_in_its_colour(bar: MemoryBar, x: int, color_index: int) -> None:
    assert color_at(bar, x) == DARK.chat_color(color_index)


def test_shared_blocks_are_hatched(bar: MemoryBar) -> None:
    row = [color_at(bar, x) for x in range(182, 198)]
    assert {row.count(DARK.color("map_many")), row.count(DARK.color("map_bg"))} == {8}


def test_cached_blocks_are_outlined(bar: MemoryBar) -> None:
    assert color_at(bar, 200) == DARK.color("text_muted")
    assert color_at(bar, 220, 0) == DARK.color("text_muted")
    assert color_at(bar, 220) == DARK.color("map_free")


@pytest.mark.parametrize("x", [100, 120, 280, 300])
def test_a_gap_of_one_pixel_parts_the_uses(bar: MemoryBar, x: int) -> None:
    assert color_at(bar, x) == DARK.color("bg_sidebar")


def test_the_blocks_of_the_pool_stand_together_without_gaps(bar: MemoryBar) -> None:
    assert DARK.color("bg_sidebar") not in [color_at(bar, x) for x in range(121, 279)]


def test_headroom_is_dashed(bar: MemoryBar) -> None:
    edge = [color_at(bar, x, 0) == DARK.color("border") for x in range(303, 314)]
    assert True in edge
    assert False in edge


def test_the_corners_are_round(bar: MemoryBar) -> None:
    assert color_at(bar, 0, 0) != DARK.color("bar_weights")


def test_a_bar_without_memory_is_empty(qtbot: QtBot) -> None:
    bar = MemoryBar(DARK)
    qtbot.addWidget(bar)
    bar.resize(320, 20)
    assert bar.segments() == ()
    assert color_at(bar, 160) == DARK.color("map_bg")
