"""Makes `.venv` whole for a stage, step by step; a step that is done is quick to do again.

The stage's key leaves the stamp first and enters it last, so an installation that was interrupted at any moment is
taken up again by the next start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from launcher.console import say
from launcher.errors import LaunchError
from launcher.packages import install_lock, install_torch
from launcher.places import Places
from launcher.single import alone
from launcher.stamp import APP, TEST, Stamp, read_stamp, stage_key, write_stamp
from launcher.starter import check_starter
from launcher.system_packages import ensure_system_packages
from launcher.torch_build import choose, find_driver
from launcher.venv import add_checkout, ensure_venv, sweep

_TORCH_SIZES = {"cpu": "200 MB", "cuda": "3 GB"}


def install(places: Places, stage: str, torch: str | None) -> None:
    """Bring the environment up to date for a stage.

    Args:
        places: The source tree.
        stage: APP or TEST; TEST includes APP.
        torch: The build that was asked for; None keeps the one that is there, or chooses.

    Raises:
        LaunchError: Something keeps it from becoming whole.
    """
    with alone(places.root / ".venv.lock"):
        stamp = read_stamp(places)
        build = torch or stamp.torch or _choose()
        for name in [APP, TEST] if stage == TEST else [APP]:
            _bring_up_to_date(places, stamp, name, build)


def _choose() -> str:
    build, reason = choose(find_driver())
    say(f"  {reason}")
    return build


def _bring_up_to_date(places: Places, stamp: Stamp, stage: str, build: str) -> None:
    if not stamp.has_system_packages.get(stage):
        stamp.has_system_packages[stage] = ensure_system_packages(for_tests=stage == TEST)
    if stamp.keys.get(stage) != stage_key(places, stage, build):
        say("Preparing PageDesk in .venv" if stage == APP else "Preparing the tests in .venv")
        started_at = time.monotonic()
        if stage == APP:
            _fill_for_app(places, stamp, build)
        else:
            _fill_for_tests(places, stamp)
        stamp.keys[stage] = stage_key(places, stage, build)
        say(f"  done after {time.monotonic() - started_at:.0f} s")
    write_stamp(places, stamp)


def _fill_for_app(places: Places, stamp: Stamp, build: str) -> None:
    ensure_venv(places)
    stamp.keys.clear()
    write_stamp(places, stamp)
    site_packages = _swept(places)
    for number, (title, step) in enumerate(_app_steps(places, build), start=1):
        say(f"  [{number}/4] {title}")
        step()
    stamp.starter = check_starter(site_packages, stamp.starter)
    add_checkout(places, site_packages)
    stamp.torch = build


def _fill_for_tests(places: Places, stamp: Stamp) -> None:
    stamp.keys.pop(TEST, None)
    write_stamp(places, stamp)
    _swept(places)
    install_lock(places, "dev")


def _swept(places: Places) -> Path:
    site_packages = places.site_packages()
    if site_packages is None:
        raise LaunchError(f"{places.venv} has no folder for packages.", "Delete it, then start again.")
    sweep(site_packages)
    return site_packages


def _app_steps(places: Places, build: str) -> list[tuple[str, Callable[[], None]]]:
    return [
        ("pip", lambda: install_lock(places, "pip")),
        ("window and text (about 150 MB)", lambda: install_lock(places, "runtime")),
        (
            f"torch, {build} build ({'about 200 MB' if build == 'cpu' else 'about 3 GB'})",
            lambda: install_torch(places, build),
        ),
        ("starter model (about 90 MB)", lambda: install_lock(places, "starter")),
    ]
