"""Fills `.venv` with pip: exact versions from the lock files, wheels only, and a line for each on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from launcher.console import run_watched, say
from launcher.errors import LaunchError
from launcher.places import Places, clean_environment
from launcher.torch_build import TORCH_VERSION, ways

_WHEEL = re.compile(
    r"(?:Downloading|Using cached|Processing) (?:\S*/)?([^/\s]+?)-([^-\s]+)-\S+\.whl(?: \((?!from)(.+?)\)| |$)"
)
_MISDIRECTING = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV")
_NOT_FOUND = "No matching distribution found for torch"


def install_lock(places: Places, name: str) -> None:
    """Install one lock file.

    Raises:
        LaunchError: pip failed.
    """
    status, output = _pip(places, ["-r", str(places.lock(name))])
    if status:
        raise _failure(places, output)


def install_torch(places: Places, build: str) -> None:
    """Install a build of torch in the first way that works here.

    Raises:
        LaunchError: None did, or pip failed for another reason than that it found no such build.
    """
    output = ""
    for way in ways(build):
        if way.remark:
            say(f"  {way.remark}")
        if way.uv_backend and not _install_with_uv(places, way.uv_backend):
            continue
        status, output = _pip(places, ["-r", str(places.lock(way.lock))])
        if not status:
            return
        if _NOT_FOUND not in output:
            break
    raise _failure(places, output)


def _install_with_uv(places: Places, backend: str) -> bool:
    """Let uv find and install torch alone. Returns whether it did."""
    say("  pip does not find this build of torch: asking uv")
    status, _ = _pip(places, ["-r", str(places.lock("uv"))])
    if status:
        return False
    arguments = ["pip", "install", "--python", str(places.python), "--no-deps", "--torch-backend", backend]
    command = [str(places.python), "-m", "uv", *arguments, f"torch=={TORCH_VERSION}"]
    status, _ = run_watched(command, clean_environment(), places.log, lambda _: None)
    return status == 0


def _pip(places: Places, arguments: Sequence[str]) -> tuple[int, str]:
    command = [str(places.python), "-m", "pip", "install", "--no-deps", "--only-binary", ":all:"]
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--root-user-action", "ignore"]
    environment = {name: value for name, value in clean_environment().items() if name not in _MISDIRECTING}
    return run_watched([*command, *options, *arguments], environment, places.log, _report)


def _report(line: str) -> None:
    """Say of pip's lines those that show progress."""
    if match := _WHEEL.search(line):
        name, version, size = match.groups()
        say(f"    {name.replace('_', '-')} {version}" + (f" ({size})" if size else ""))
    elif line.startswith("Installing collected packages"):
        say("    unpacking")


def _failure(places: Places, output: str) -> LaunchError:
    lines = output.strip().splitlines() or ["pip said nothing"]
    errors = [line for line in lines if line.startswith("ERROR: ")] or lines
    cause = errors[-1].removeprefix("ERROR: ")
    if "No space left" in output or "not enough space" in output:
        advice = "Free some space on that disk (PageDesk needs 2 GB, with CUDA 8 GB), then start again."
    else:
        advice = f"Check the network, then start again: what was fetched is kept. Everything pip said: {places.log}"
    return LaunchError(f"The packages could not be installed: {cause}", advice)
