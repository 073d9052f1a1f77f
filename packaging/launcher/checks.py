"""Everything that the checks of a change run, fast ones first; the first that fails ends it."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

from launcher.console import say
from launcher.places import Places, clean_environment


@dataclass(frozen=True, slots=True)
class Check:
    """One gate: its name, what the environment's Python is given, and how to mend what it finds."""

    title: str
    arguments: tuple[str, ...]
    remedy: str = ""


_LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def checks(pytest_arguments: list[str]) -> list[Check]:
    """The gates in their order."""
    return [
        Check("format", ("-m", "ruff", "format", "--check", "."), ".venv/bin/ruff format"),
        Check("lint", ("-m", "ruff", "check", "."), ".venv/bin/ruff check --fix"),
        Check("types", ("-m", "mypy")),
        Check("layers", ("-c", _LINT_IMPORTS)),
        Check("tests", ("-m", "pytest", *pytest_arguments)),
    ]


def run_checks(places: Places, pytest_arguments: list[str]) -> int:
    """Run the gates in the source tree. Returns the exit status of the first that fails, or 0."""
    for check in checks(pytest_arguments):
        say(f"== {check.title}")
        started_at = time.monotonic()
        command = [str(places.python), *check.arguments]
        status = subprocess.run(command, cwd=places.root, env=clean_environment(), check=False).returncode
        if status:
            say(f"== {check.title} failed" + (f"; to mend it: {check.remedy}" if check.remedy else ""))
            return status
        say(f"== {check.title}: good ({time.monotonic() - started_at:.1f} s)")
    return 0
