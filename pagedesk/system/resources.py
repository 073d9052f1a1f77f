"""Where the files that ship with the program are: in the wheel, or in the source tree beside the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_SHIPPED = _PACKAGE / "_resources"
_SOURCE = _PACKAGE.parent / "resources"


def resource_path(*parts: str) -> Path:
    """The path of a shipped file, for instance `resource_path("themes", "tokens.json")`."""
    root = _SHIPPED if _SHIPPED.is_dir() else _SOURCE
    return root.joinpath(*parts)
