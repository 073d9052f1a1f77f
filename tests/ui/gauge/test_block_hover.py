from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt

from pagedesk.ui.gauge.hover_card import HoverCard
from pagedesk.ui.gauge.panel import GaugePanel
from tests.helpers.snapshots import cached, free, owned, shared, snapshot_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

BLOCKS = [
    free(),
    owned("parser"),
    shared("parser", "mmap", ref_count=2),
    shared("mmap", "parser", "roman", ref_count=300),
    cached("roman"),
    owned("gone"),
] + [free()] * 1_394


@pytest.fixture
def filled(panel: GaugePanel, settled: Callable[[], None]) -> GaugePanel:
    panel.show_snapshot(snapshot_of(BLOCKS))
    settled()
    panel.blocks.map.setFocus()
    return panel


def point_at(panel: GaugePanel, qtbot: QtBot, block_id: int) -> None:
    viewport = panel.blocks.map.viewport()
    qtbot.mouseMove(viewport, panel.blocks.map.cell_rect(block_id).center())


def card_at(panel: GaugePanel, qtbot: QtBot, block_id: int) -> HoverCard:
    point_at(panel, qtbot, block_id)
    qtbot.waitUntil(lambda: panel.blocks.hover.card is not None)
    card = panel.blocks.hover.card
    assert card is not None
    return card


@pytest.mark.parametrize(
    ("block_id", "lines"),
    [
        (0, ["Block 0, free", "2.0 MB"]),
        (1, ["Block 1, owned", "Save-file parser", "1 reference, 2.0 MB"]),
        (2, ["Block 2, shared", "Mmap parser", "Save-file parser", "2 references, 2.0 MB"]),
        (3, ["Block 3, shared", "Mmap parser", "Save-file parser", "and 1 more", "255+ references, 2.0 MB"]),
        (4, ["Block 4, cached", "Gothic novel", "2.0 MB"]),
        (5, ["Block 5, owned", "A chat that is gone", "1 reference, 2.0 MB"]),
    ],
)
def test_the_card_tells_about_the_block_under_the_pointer(
    filled: GaugePanel, qtbot: QtBot, block_id: int, lines: list[str]
) -> None:
    said = card_at(filled, qtbot, block_id).lines()
    assert (said[0], set(said), said[-1]) == (lines[0], set(lines), lines[-1])


def test_the_card_is_a_child_of_the_window(filled: GaugePanel, qtbot: QtBot) -> None:
    card = card_at(filled, qtbot, 1)
    assert card.parentWidget() is filled.window()
    assert not card.isWindow()


def test_the_card_stays_within_the_window(filled: GaugePanel, qtbot: QtBot) -> None:
    assert filled.rect().contains(card_at(filled, qtbot, 39).geometry())


def test_the_card_goes_when_the_pointer_leaves_the_cells(filled: GaugePanel, qtbot: QtBot) -> None:
    card_at(filled, qtbot, 1)
    qtbot.mouseMove(filled.blocks.map.viewport(), QPoint(325, 10))
    assert filled.blocks.hover.card is None


def test_the_card_follows_the_pool(filled: GaugePanel, qtbot: QtBot) -> None:
    card = card_at(filled, qtbot, 1)
    filled.show_snapshot(snapshot_of([free()] * 1_400))
    assert card.lines() == ["Block 1, free", "2.0 MB"]


def test_the_card_goes_when_its_block_is_no_longer_there(filled: GaugePanel, qtbot: QtBot) -> None:
    card_at(filled, qtbot, 1_200)
    filled.show_snapshot(snapshot_of([free()] * 100))
    assert filled.blocks.hover.card is None


@pytest.mark.parametrize(
    ("keys", "headline"),
    [
        ([Qt.Key.Key_Down], "Block 0, free"),
        ([Qt.Key.Key_Down, Qt.Key.Key_Right], "Block 1, owned"),
        ([Qt.Key.Key_Down, Qt.Key.Key_Down], "Block 40, free"),
        ([Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Left], "Block 0, free"),
        ([Qt.Key.Key_Down, Qt.Key.Key_End], "Block 1,399, free"),
    ],
)
def test_arrow_keys_move_the_cursor_and_show_its_card(
    filled: GaugePanel, qtbot: QtBot, keys: list[Qt.Key], headline: str
) -> None:
    for key in keys:
        qtbot.keyClick(filled.blocks.map, key)
    card = filled.blocks.hover.card
    assert card is not None
    assert card.lines()[0] == headline


def test_escape_hides_the_card(filled: GaugePanel, qtbot: QtBot) -> None:
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Down)
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Escape)
    assert filled.blocks.hover.card is None


def test_a_click_chooses_the_chat_of_the_block(filled: GaugePanel, qtbot: QtBot) -> None:
    place = filled.blocks.map.cell_rect(4).center()
    with qtbot.waitSignal(filled.chat_chosen) as chosen:
        qtbot.mouseClick(filled.blocks.map.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == ["roman"]


def test_enter_chooses_the_chat_of_the_block_at_the_cursor(filled: GaugePanel, qtbot: QtBot) -> None:
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Down)
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Right)
    with qtbot.waitSignal(filled.chat_chosen) as chosen:
        qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Return)
    assert chosen.args == ["parser"]


def test_a_free_block_chooses_nothing(filled: GaugePanel, qtbot: QtBot) -> None:
    place = filled.blocks.map.cell_rect(0).center()
    with qtbot.assertNotEmitted(filled.chat_chosen):
        qtbot.mouseClick(filled.blocks.map.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_reader_hears_the_block_at_the_cursor(filled: GaugePanel, qtbot: QtBot) -> None:
    filled.activateWindow()
    qtbot.waitUntil(filled.blocks.map.hasFocus)
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Down)
    qtbot.keyClick(filled.blocks.map, Qt.Key.Key_Right)
    assert filled.blocks.map.accessibleDescription() == "Block 1, owned, Save-file parser, 1 reference, 2.0 MB"
