"""How a scenario tells what it found: a table and sentences for people, or one JSON object."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from pagedesk.commands.bench.rig import Rig

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a scenario was measured; `--json` prints these names.

    Attributes:
        model: The model.
        device: Where it computed.
        load: Programs that wanted a core at once, on average over the last minute; None where the system does not tell.
    """

    model: str
    device: str
    load: float | None


def setting_of(rig: Rig) -> Setting:
    """Where a rig measures, now."""
    return Setting(rig.model_name, rig.device_name, os.getloadavg()[0] if hasattr(os, "getloadavg") else None)


def print_json(report: DataclassInstance) -> None:
    """One JSON object with the names of the report's fields."""
    print(json.dumps(asdict(report), ensure_ascii=False))


def print_setting(setting: Setting) -> None:
    """Model and device, and how busy the machine is."""
    busy = "" if setting.load is None else f", load {setting.load:.1f}"
    print(f"{setting.model} on {setting.device}{busy}")


def print_table(rows: Sequence[DataclassInstance]) -> None:
    """A column for each field, as wide as it must be."""
    names = [field.name.replace("_", " ") for field in fields(rows[0])]
    lines = [names, *([_cell(getattr(row, field.name)) for field in fields(row)] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(names))]
    for line in lines:
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def tell(sentence: str) -> None:
    """Say on the error stream what is measured now, so that a long run is not silent."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _cell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"
        case int():
            return f"{value:,}"
        case None:
            return "-"
        case _:
            return str(value)
