from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pagedesk.ui.gauge.panel import GaugePanel
from pagedesk.ui.theme import Scheme, Theme

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

CHATS = {"parser": ("Save-file parser", 0), "mmap": ("Mmap parser", 1), "roman": ("Gothic novel", 10)}


@pytest.fixture
def panel(qtbot: QtBot) -> GaugePanel:
    panel = GaugePanel(Theme(Scheme.DARK))
    qtbot.addWidget(panel)
    panel.set_chats(CHATS)
    panel.resize(348, 800)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def settled(panel: GaugePanel, qtbot: QtBot) -> Callable[[], None]:
    """Waits until the panel is laid out for the number of its blocks."""
    block_map = panel.blocks.map
    return lambda: qtbot.waitUntil(lambda: block_map.height() == block_map.sizeHint().height() > 0)
