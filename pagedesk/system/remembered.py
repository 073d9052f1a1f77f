"""What the next start of the window takes over from this one: the model, the window's place, the pane in use.

Any thread, one at a time. A small JSON file; one that is missing or damaged counts as empty, and where it cannot be
written the next start merely begins as the first one did.
"""

from __future__ import annotations

import base64
import json
import logging
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is taken over.

    Attributes:
        model: The file that loaded well last; None: the starter model.
        geometry: Size and place of the window, in Qt's own form; empty: not known.
        pane_index: Which pane was in use, counted from the left.
    """

    model: Path | None = None
    geometry: bytes = b""
    pane_index: int = 0


def read_remembered(path: Path) -> Remembered:
    """What the last start left at `path`."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return Remembered(
            model=Path(str(values["model"])) if values["model"] else None,
            geometry=base64.b64decode(values["geometry"]),
            pane_index=max(0, int(values["pane_index"])),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Remembered()


def write_remembered(path: Path, remembered: Remembered) -> None:
    """Leave it for the next start: all of it, or what was there before."""
    values = {
        "model": str(remembered.model) if remembered.model else "",
        "geometry": base64.b64encode(remembered.geometry).decode(),
        "pane_index": remembered.pane_index,
    }
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_text(json.dumps(values), "utf-8")
        fresh.replace(path)
    except OSError:
        _log.warning("what the next start takes over could not be written", exc_info=True)
