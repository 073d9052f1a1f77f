"""What is known to be whole: a stamp is written after an installation ended, and taken away before one begins.

A stage is current while its key is: a hash of the lock files that it was installed from, the torch build, and the
interpreter that the environment belongs to.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field

from launcher.places import Places

_FORMAT = "1"
"""Part of every key: change it when the launcher installs something else from the same locks."""

APP, TEST = "app", "test"


@dataclass(slots=True)
class Stamp:
    """The newest known state of an environment.

    Attributes:
        torch: "cpu" or "cuda"; None before the first choice.
        keys: By stage, the key that it was installed under.
        has_system_packages: By stage, whether the system had all that it needs.
        starter: Size, time and sum of the starter model's file when it was checked.
    """

    torch: str | None = None
    keys: dict[str, str] = field(default_factory=dict)
    has_system_packages: dict[str, bool] = field(default_factory=dict)
    starter: list[str] = field(default_factory=list)


def read_stamp(places: Places) -> Stamp:
    """The stamp; an empty one if there is none or it cannot be read."""
    try:
        return Stamp(**json.loads(places.stamp.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Stamp()


def write_stamp(places: Places, stamp: Stamp) -> None:
    """Write the stamp at once or not at all."""
    draft = places.stamp.with_suffix(".tmp")
    draft.write_text(json.dumps(asdict(stamp), indent=1), encoding="utf-8")
    os.replace(draft, places.stamp)  # noqa: PTH105 - the same on both systems, and pathlib's costs the fast start


def stage_key(places: Places, stage: str, torch: str) -> str:
    """The key under which a stage is current now."""
    names = ["pip", "runtime", f"torch-{torch}", "starter"] + (["dev"] if stage == TEST else [])
    digest = hashlib.sha256("\0".join([_FORMAT, torch, _interpreter(places)]).encode())
    for name in names:
        digest.update(places.lock(name).read_bytes())
    return digest.hexdigest()


def _interpreter(places: Places) -> str:
    """Which Python the environment belongs to; a Python that was updated or removed is another one."""
    try:
        config = (places.venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "none"
    facts = [line for line in config.splitlines() if line.startswith(("home", "version"))]
    return "\n".join([*facts, os.path.realpath(places.python), str(places.python.exists())])
