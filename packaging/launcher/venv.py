"""Makes `.venv`, and mends one whose making or filling was interrupted."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from launcher.console import say
from launcher.errors import LaunchError
from launcher.places import Places, clean_environment
from launcher.system_packages import install_as_root, install_line, is_root_with_apt

NEWEST_MINOR = 14
"""torch has builds for Python 3.11 to 3.14."""


def ensure_venv(places: Places) -> None:
    """Make the environment if there is none that works.

    Raises:
        LaunchError: This Python cannot make one.
    """
    if works(places):
        return
    if sys.version_info[:2] > (3, NEWEST_MINOR):
        raise LaunchError(
            f"PageDesk needs Python 3.11 to 3.{NEWEST_MINOR}; this is {sys.version_info[0]}.{sys.version_info[1]}.",
            "Start packaging/launch.py with one of those.",
        )
    _ensure_venv_module()
    if places.venv.exists():
        say("  .venv is unfinished or its Python is gone: making it anew")
        shutil.rmtree(places.venv)
    command = [sys.executable, "-m", "venv", str(places.venv)]
    # It inherits the lock (see console.py): it may outlive this process.
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=clean_environment(), close_fds=False
    )
    if done.returncode:
        raise LaunchError(
            f"Python could not make the folder {places.venv}: {_last_line(done.stdout + done.stderr)}",
            "Check that the disk has 2 GB free and that you may write to that folder, then start again.",
        )


def works(places: Places) -> bool:
    """Whether the environment's Python starts and has the whole of pip."""
    site_packages = places.site_packages()
    if not places.python.exists() or site_packages is None:
        return False
    records = list(site_packages.glob("pip-*.dist-info"))
    if len(records) != 1 or is_half(records[0]) or any(site_packages.glob("~*ip*")):
        return False
    command = [str(places.python), "-m", "pip", "--version"]
    return subprocess.run(command, capture_output=True, check=False, env=clean_environment()).returncode == 0


def _ensure_venv_module() -> None:
    """Debian's Python comes without the part that makes environments."""
    if importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv"):
        return
    package = f"python3.{sys.version_info[1]}-venv"
    if is_root_with_apt():
        say(f"  installing {package} with apt")
        if install_as_root([package]):
            return
    raise LaunchError(
        f"This Python ({sys.executable}) cannot make a virtual environment: its package {package} is missing.",
        f"Install it, then start again: {install_line('apt', [package])}",
    )


def sweep(site_packages: Path) -> None:
    """Remove what an interrupted pip left: its renamed leftovers, and the records of packages that are not whole.

    Without its record pip installs a package again.
    """
    for entry in site_packages.iterdir():
        if entry.name.startswith("~") or (entry.suffix == ".dist-info" and is_half(entry)):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def is_half(record: Path) -> bool:
    """Whether a record (`.dist-info`) is of half a package: pip writes `INSTALLER` after a package's last file."""
    return not (record / "INSTALLER").exists()


def add_checkout(places: Places, site_packages: Path) -> None:
    """Let the environment import the packages of this source tree.

    A path file, not an installation: nothing is built. Its paths are relative, hence plain ASCII whatever the folder is
    called, and still true when the folder is moved.
    """
    folders = [places.root, places.root / "kernels"]
    lines = [os.path.relpath(folder, site_packages) for folder in folders]
    (site_packages / "pagedesk_checkout.pth").write_text("\n".join(lines) + "\n", encoding="ascii")


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
