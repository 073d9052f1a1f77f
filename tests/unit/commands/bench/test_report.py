"""What a scenario prints."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    num_blocks: int
    wall_s: float
    is_good: bool
    load: float | None


ROWS = [Row("first", 1234, 0.5, True, None), Row("no", 2, 12.345, False, 1.0)]


def test_a_table_has_a_column_for_each_field_as_wide_as_it_must_be(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "what   num blocks  wall s  is good  load",
        "first       1,234    0.50      yes     -",
        "no              2    12.3       no  1.00",
    ]


def test_json_has_the_names_of_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(ROWS[0])
    assert json.loads(capsys.readouterr().out) == {
        "what": "first",
        "num_blocks": 1234,
        "wall_s": 0.5,
        "is_good": True,
        "load": None,
    }


@pytest.mark.parametrize(("load", "line"), [(None, "Tiny on a chip"), (2.04, "Tiny on a chip, load 2.0")])
def test_the_setting_tells_how_busy_the_machine_is(
    load: float | None, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_setting(Setting("Tiny", "a chip", load))
    assert capsys.readouterr().out == f"{line}\n"
