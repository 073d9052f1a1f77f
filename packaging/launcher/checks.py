"""Everything that the checks of a change run, fast ones first; the first that fails ends it."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass

from launcher.console import say
from launcher.places import Places, clean_environment


@dataclass(frozen=True, slots=True)
class Check:
    """One gate: its name, what the environment's Python is given, and how to mend what it finds.

    Attributes:
        is_long: It is left out where the gates before it took long already.
    """

    title: str
    arguments: tuple[str, ...]
    remedy: str = ""
    is_long: bool = False


_LAST_START_OF_LONG_RUNS_S = 15 * 60
_LONGEST_RUN_S = 10 * 60


_LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def checks(pytest_arguments: list[str]) -> list[Check]:
    """The gates in their order; the long runs only where all tests are wanted."""
    long_runs = Check(
        "long runs", ("-m", "pytest", "-m", "soak", "-o", f"faulthandler_timeout={_LONGEST_RUN_S}"), is_long=True
    )
    return [
        Check("format", ("-m", "ruff", "format", "--check", "."), ".venv/bin/ruff format"),
        Check("lint", ("-m", "ruff", "check", "."), ".venv/bin/ruff check --fix"),
        Check("types", ("-m", "mypy")),
        Check("layers", ("-c", _LINT_IMPORTS)),
        Check("tests", ("-m", "pytest", *pytest_arguments)),
        *([] if pytest_arguments else [long_runs]),
    ]


def run_checks(places: Places, pytest_arguments: list[str]) -> int:
    """Run the gates in the source tree. Returns the exit status of the first that fails, or 0."""
    began_at = time.monotonic()
    for check in checks(pytest_arguments):
        say(f"== {check.title}")
        started_at = time.monotonic()
        if check.is_long and started_at - began_at > _LAST_START_OF_LONG_RUNS_S:
            say(f"== {check.title}: left out, the checks before took {(started_at - began_at) / 60:.0f} minutes")
            continue
        command = [str(places.python), *check.arguments]
        status = subprocess.run(command, cwd=places.root, env=clean_environment(), check=False).returncode
        if status:
            say(f"== {check.title} failed" + (f"; to mend it: {check.remedy}" if check.remedy else ""))
            return status
        say(f"== {check.title}: good ({time.monotonic() - started_at:.1f} s)")
    return 0
