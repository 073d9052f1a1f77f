from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QTextDocumentFragment

from pagedesk.protocol import PoolSnapshot
from pagedesk.ui.gauge.panel import GaugePanel
from pagedesk.ui.theme import Scheme, Theme
from tests.helpers.snapshots import GB, MB, cached, free, memory_use, owned, random_blocks, shared, snapshot_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

CHAT_IDS = ["parser", "mmap", "roman"]
BLOCKS = (
    [owned("parser")] * 478 + [shared("parser", "mmap", ref_count=3)] * 259 + [cached("roman")] * 387 + [free()] * 276
)


def expected_figures(snapshot: PoolSnapshot) -> dict[str, int]:
    use, size = snapshot.memory, snapshot.block_bytes
    assert use.total_bytes is not None
    assert use.others_bytes is not None
    used = use.weights_bytes + use.workspace_bytes + use.pool_bytes + use.others_bytes + use.headroom_bytes
    return {
        "total_bytes": use.total_bytes,
        "weights_bytes": use.weights_bytes,
        "workspace_bytes": use.workspace_bytes,
        "others_bytes": use.others_bytes,
        "headroom_bytes": use.headroom_bytes,
        "unused_bytes": use.total_bytes - used,
        "pool_owned_bytes": snapshot.num_owned * size,
        "pool_shared_bytes": snapshot.num_shared * size,
        "pool_cached_bytes": snapshot.num_cached * size,
        "pool_free_bytes": snapshot.num_free * size,
        "num_blocks": snapshot.num_blocks,
        "num_owned": snapshot.num_owned,
        "num_shared": snapshot.num_shared,
        "num_cached": snapshot.num_cached,
        "num_free": snapshot.num_free,
        "saved_bytes": snapshot.saved_bytes,
        "running": snapshot.num_running,
        "waiting": snapshot.num_waiting,
        "copied_blocks": snapshot.num_copied_blocks,
        "step_us": round(snapshot.step_ms * 1000),
        "cached_prompt_permille": round(
            1000 * snapshot.cached_prompt_tokens / (snapshot.cached_prompt_tokens + snapshot.prompt_tokens)
        ),
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_number_that_is_shown_is_a_counter_of_the_engine(panel: GaugePanel, seed: int) -> None:
    snapshot = snapshot_of(random_blocks(1_400, CHAT_IDS, seed))
    panel.show_snapshot(snapshot)
    assert panel.figures() == expected_figures(snapshot)


def test_the_numbers_of_the_newest_snapshot_replace_those_before(panel: GaugePanel) -> None:
    panel.show_snapshot(snapshot_of(random_blocks(1_400, CHAT_IDS, 1)))
    newest = replace(snapshot_of(random_blocks(1_400, CHAT_IDS, 2)), num_running=2, num_waiting=1, step_ms=40.5)
    panel.show_snapshot(newest)
    assert panel.figures() == expected_figures(newest)


def test_before_anything_is_known_no_number_is_shown(panel: GaugePanel) -> None:
    assert panel.figures() == {}
    assert {panel.memory.legend.text_of(row) for row in ("weights", "pool_free", "others")} == {"-"}
    assert (panel.blocks.header.note, panel.sharing.header.right) == ("-", "-")


def test_memory_alone_leaves_the_numbers_of_the_pool_open(panel: GaugePanel) -> None:
    panel.show_memory(memory_use())
    assert panel.figures()["weights_bytes"] == memory_use().weights_bytes
    assert panel.memory.legend.text_of("pool_free") == "-"


def test_what_the_machine_does_not_tell_is_a_dash(panel: GaugePanel) -> None:
    use = replace(memory_use(), total_bytes=None, others_bytes=None)
    panel.show_snapshot(replace(snapshot_of(BLOCKS), memory=use))
    assert panel.memory.legend.text_of("others") == "-"
    assert {"total_bytes", "others_bytes", "unused_bytes"}.isdisjoint(panel.figures())


def test_before_the_first_step_there_is_no_duration_and_no_share(panel: GaugePanel) -> None:
    panel.show_snapshot(replace(snapshot_of(BLOCKS), step_index=0, prompt_tokens=0, cached_prompt_tokens=0))
    assert (panel.engine.table.text_of("step_ms"), panel.engine.table.text_of("cached_share")) == ("-", "-")


def test_memory_of_another_pool_takes_the_old_blocks_off_the_bar(panel: GaugePanel) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    panel.show_memory(replace(memory_use(), pool_bytes=3 * GB))
    assert panel.memory.legend.text_of("pool_owned") == "-"


def test_memory_of_the_same_pool_keeps_its_blocks_on_the_bar(panel: GaugePanel) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    panel.show_memory(replace(memory_use(), others_bytes=5 * GB))
    assert panel.figures()["pool_owned_bytes"] == 478 * 2 * MB
    assert panel.figures()["others_bytes"] == 5 * GB


def test_a_card_is_called_video_memory_and_named_with_its_total(panel: GaugePanel) -> None:
    panel.show_memory(memory_use())
    assert (panel.memory.header.title, panel.memory.header.right) == ("Video memory", "RTX 3080, 10.0 GB")


def test_a_machine_without_a_card_shows_its_memory(panel: GaugePanel) -> None:
    panel.show_memory(replace(memory_use(), device_name="Ryzen 5800X", total_bytes=32 * GB, on_card=False))
    assert (panel.memory.header.title, panel.memory.header.right) == ("Memory", "Ryzen 5800X, 32.0 GB")


def test_the_header_of_the_map_says_how_many_blocks_are_held(panel: GaugePanel) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    assert panel.blocks.header.note == "737 of 1,400 held"


def test_sharing_says_what_it_saves(panel: GaugePanel) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    assert panel.sharing.header.right == "1.0 GB saved"


def test_sharing_names_the_chats_that_share(panel: GaugePanel) -> None:
    panel.set_chats({"parser": ("Fix <b>parser</b>", 0), "mmap": ("What is mmap", 1), "roman": ("Roman roads", 2)})
    panel.show_snapshot(snapshot_of(BLOCKS))
    header = panel.sharing.header
    assert header.note == "Fix <b>parser</b>, What is mmap"
    told = QTextDocumentFragment.fromHtml(header.toolTip()).toPlainText().split("\n")[1:]
    assert told == ["Fix <b>parser</b>: 259 shared blocks", "What is mmap: 259 shared blocks"]
    panel.clear()
    assert (header.note, header.toolTip()) == ("", "")


def test_the_theme_changes_while_the_panel_is_shown(panel: GaugePanel, settled: Callable[[], None]) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    settled()
    light = Theme(Scheme.LIGHT)
    panel.set_theme(light)
    image = panel.grab().toImage()
    cell = panel.blocks.map.viewport().mapTo(panel, panel.blocks.map.cell_rect(0).center())
    assert image.pixelColor(2, 2) == light.color("bg_sidebar")
    assert QColor(image.pixel(cell)) == light.chat_color(0)


def test_a_low_panel_drops_the_counters_first_then_sharing_then_scrolls_the_map(
    panel: GaugePanel, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    settled()
    shown = []
    for height in (800, 560, 500, 400):
        panel.resize(348, height)
        shown.append((panel.engine.isVisible(), panel.sharing.isVisible()))
    assert shown == [(True, True), (False, True), (False, False), (False, False)]
    qtbot.waitUntil(lambda: panel.blocks.map.verticalScrollBar().maximum() > 0)


def test_numbers_of_dropped_sections_are_still_known(panel: GaugePanel) -> None:
    panel.resize(348, 400)
    snapshot = snapshot_of(BLOCKS)
    panel.show_snapshot(snapshot)
    assert panel.figures() == expected_figures(snapshot)


@pytest.mark.parametrize("width", [268, 348, 560])
def test_the_panel_takes_every_width_of_its_splitter(panel: GaugePanel, qtbot: QtBot, width: int) -> None:
    panel.show_snapshot(snapshot_of(BLOCKS))
    panel.resize(width, 800)
    qtbot.waitUntil(lambda: panel.blocks.map.width() == width - 14)
    assert panel.minimumSizeHint().width() == 268
