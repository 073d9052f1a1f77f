from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint

from pagedesk.ui.gauge.figure_table import ROW_HEIGHT, FigureTable, Row
from pagedesk.ui.gauge.units import count, exact_bytes, memory
from pagedesk.ui.theme import Scheme, Theme

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)

ROWS = [
    Row("used", "Used", memory, exact_bytes),
    Row("free", "Free", memory, exact_bytes),
    Row("running", "Running", count),
]


@pytest.fixture
def table(qtbot: QtBot) -> FigureTable:
    table = FigureTable(ROWS, Theme(Scheme.DARK))
    qtbot.addWidget(table)
    table.resize(320, 54)
    table.show()
    return table


def test_numbers_that_nobody_told_are_dashes(table: FigureTable) -> None:
    assert [table.text_of(row.key) for row in ROWS] == ["-", "-", "-"]


def test_a_number_is_written_in_the_units_of_its_row(table: FigureTable) -> None:
    table.show_values({"used": 94 << 20, "running": 1400})
    assert [table.text_of(row.key) for row in ROWS] == ["94 MB", "-", "1,400"]


def test_only_numbers_that_are_shown_are_told(table: FigureTable) -> None:
    table.show_values({"used": 3, "free": None, "running": 2})
    table.hide_rows(frozenset({"running"}))
    assert table.values() == {"used": 3}


def test_a_reader_hears_the_table_as_a_sentence(table: FigureTable) -> None:
    table.show_values({"used": 94 << 20, "running": 2})
    assert table.accessibleDescription() == "Used 94 MB, Free -, Running 2"


def test_a_wide_table_has_two_columns(table: FigureTable) -> None:
    assert table.sizeHint().height() == 2 * ROW_HEIGHT


def test_a_narrow_table_has_one_column(table: FigureTable) -> None:
    table.resize(100, 54)
    assert table.sizeHint().height() == 3 * ROW_HEIGHT


def test_the_tool_tip_of_a_number_has_all_its_bytes(table: FigureTable) -> None:
    table.show_values({"free": 98_362_432})
    assert table.tool_tip_at(QPoint(10, ROW_HEIGHT + 5)) == "Free: 98,362,432 bytes"


def test_a_number_that_is_written_in_full_has_no_tool_tip(table: FigureTable) -> None:
    assert table.tool_tip_at(QPoint(300, 5)) == ""
