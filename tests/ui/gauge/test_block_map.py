from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge.block_map import BlockMap
from pagedesk.ui.gauge.palette import MapPalette
from pagedesk.ui.theme import Scheme, Theme
from tests.helpers.snapshots import BlockSpec, cached, free, owned, random_blocks, shared, snapshot_of

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

COLORS = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
DARK, LIGHT = Theme(Scheme.DARK), Theme(Scheme.LIGHT)


@pytest.fixture
def block_map(qtbot: QtBot) -> BlockMap:
    block_map = BlockMap(DARK)
    qtbot.addWidget(block_map)
    block_map.set_chats(COLORS)
    block_map.resize(334, 304)
    block_map.show()
    qtbot.waitExposed(block_map)
    return block_map


def grabbed(block_map: BlockMap) -> QImage:
    return block_map.viewport().grab().toImage()


def corner(block_map: BlockMap, block_id: int) -> int:
    """The colour of the top left pixel of a cell: in a hatch, too, it is the colour and not a hole."""
    return pixel(block_map, block_id, QPoint(0, 0))


def middle(block_map: BlockMap, block_id: int) -> int:
    return pixel(block_map, block_id, QPoint(3, 3))


def pixel(block_map: BlockMap, block_id: int, offset: QPoint) -> int:
    return grabbed(block_map).pixel(block_map.cell_rect(block_id).topLeft() + offset)


def settle(qtbot: QtBot, block_map: BlockMap) -> None:
    qtbot.waitUntil(lambda: not block_map.is_animated)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_cells_of_owned_blocks_have_the_colour_of_their_chat(block_map: BlockMap, theme: Theme) -> None:
    blocks = random_blocks(1_400, list(COLORS))
    block_map.set_theme(theme)
    block_map.show_snapshot(snapshot_of(blocks))
    image = grabbed(block_map)
    owners = [(block_id, block.owners[0]) for block_id, block in enumerate(blocks) if block.state is BlockState.OWNED]
    for block_id, chat_id in Random(3).sample(owners, 60):
        color = image.pixel(block_map.cell_rect(block_id).center())
        assert color == theme.chat_color(COLORS[chat_id]).rgb(), block_id


@pytest.mark.parametrize(
    ("block", "corner_color", "middle_color"),
    [
        (free(), "map_free", "map_free"),
        (shared("a", "b", "c"), "map_many", "map_bg"),
    ],
    ids=["free", "shared by three"],
)
def test_cells_without_a_chats_colour(
    block_map: BlockMap, block: BlockSpec, corner_color: str, middle_color: str
) -> None:
    block_map.show_snapshot(snapshot_of([block] * 1_400))
    offset = QPoint(3, 3) if corner_color == middle_color else QPoint(2, 0)
    assert corner(block_map, 700) == DARK.color(corner_color).rgb()
    assert pixel(block_map, 700, offset) == DARK.color(middle_color).rgb()


def test_cached_cells_are_outlined_in_the_colour_of_their_last_chat(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([cached("c")] * 1_400))
    assert corner(block_map, 55) == DARK.chat_color(2).rgb()
    assert middle(block_map, 55) == DARK.color("map_free").rgb()


def test_a_taken_block_flashes_and_then_shows_its_chat(qtbot: QtBot, block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    block_map.show_snapshot(snapshot_of([owned("a")] + [free()] * 1_399))
    flashed = middle(block_map, 0)
    settle(qtbot, block_map)
    assert flashed not in (DARK.chat_color(0).rgb(), DARK.color("map_free").rgb())
    assert middle(block_map, 0) == DARK.chat_color(0).rgb()


def test_no_timer_runs_while_nothing_fades(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    assert not block_map.is_animated


def test_snapshots_that_come_while_the_map_is_hidden_do_not_fade(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    block_map.hide()
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    block_map.show()
    assert not block_map.is_animated
    assert middle(block_map, 9) == DARK.chat_color(0).rgb()


def test_a_map_hidden_in_a_fade_goes_on_when_it_is_shown(qtbot: QtBot, block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    block_map.hide()
    block_map.show()
    settle(qtbot, block_map)
    assert middle(block_map, 9) == DARK.chat_color(0).rgb()


def test_only_changed_cells_are_written_and_the_picture_is_as_if_all_were(qtbot: QtBot, block_map: BlockMap) -> None:
    chats = list(COLORS)
    block_map.show_snapshot(snapshot_of(random_blocks(1_400, chats, seed=1)))
    grabbed(block_map)
    block_map.show_snapshot(snapshot_of(random_blocks(1_400, chats, seed=2)))
    settle(qtbot, block_map)
    updated = grabbed(block_map)
    block_map.set_theme(DARK)
    assert updated == grabbed(block_map)


def test_the_ground_between_the_cells_is_the_background(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    assert grabbed(block_map).pixel(7, 3) == MapPalette.of(DARK).background


def test_a_chats_new_colour_is_shown_at_once(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    block_map.set_chats({"a": 5})
    assert middle(block_map, 3) == DARK.chat_color(5).rgb()


def test_another_pool_replaces_the_map(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    block_map.show_snapshot(snapshot_of([owned("b")] * 300))
    assert (block_map.num_blocks, block_map.columns) == (300, 26)
    assert middle(block_map, 299) == DARK.chat_color(1).rgb()


def test_a_wider_map_has_more_columns(qtbot: QtBot, block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 1_400))
    block_map.resize(14 + 40 * 8 + 79, 304)
    qtbot.waitUntil(lambda: block_map.columns == 50)


def test_more_blocks_than_fit_can_be_scrolled_to(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 49_999 + [owned("b")]))
    block_map.verticalScrollBar().setValue(block_map.verticalScrollBar().maximum())
    cell = block_map.cell_rect(49_999)
    assert block_map.viewport().rect().contains(cell)
    assert grabbed(block_map).pixel(cell.center()) == DARK.chat_color(1).rgb()


def test_a_cell_scrolled_into_view_is_found_under_the_pointer(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 50_000))
    block_map.verticalScrollBar().setValue(333)
    block_id = block_map.block_at(QPoint(100, 200))
    assert block_id is not None
    assert block_map.cell_rect(block_id).contains(QPoint(100, 200))


def test_a_marked_block_out_of_view_is_brought_into_it(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 50_000))
    block_map.mark(30_000)
    assert block_map.viewport().rect().contains(block_map.cell_rect(30_000))


def test_all_of_a_usual_pool_is_seen_without_scrolling(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([free()] * 1_400))
    assert block_map.verticalScrollBar().maximum() == 0


def test_a_reader_who_does_not_see_the_map_hears_its_sum(block_map: BlockMap) -> None:
    block_map.show_snapshot(snapshot_of([owned("a")] * 478 + [shared("a", "b")] * 259 + [free()] * 663))
    assert block_map.accessibleName() == "Block map"
    assert block_map.accessibleDescription() == "1,400 blocks, 737 held, 259 shared"


def test_before_the_first_snapshot_there_is_nothing_to_tell(block_map: BlockMap) -> None:
    assert (block_map.num_blocks, block_map.facts(0), block_map.summary()) == (None, None, "No blocks")
