"""The way of a start: is `.venv` current? then hand over at once; else make it so first.

The modules that install are imported only when something is to be installed: they would cost the start of every day.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from launcher.errors import LaunchError
from launcher.options import HELP, Options, parse
from launcher.places import IS_WINDOWS, Places, clean_environment
from launcher.stamp import APP, TEST, read_stamp, stage_key


def main(arguments: list[str]) -> int:
    """Do what the command line asks. Returns the exit status; on POSIX the program takes this process's place."""
    try:
        options = parse(arguments)
        if options.wants_help:
            print(HELP, end="")
            return 0
        return _start(Places(Path(__file__).resolve().parent.parent.parent), options)
    except LaunchError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\nPageDesk could not be made ready: {error}", file=sys.stderr)
        print("Check that you may write to its folder and that the disk is not full.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next start goes on from here.", file=sys.stderr)
        return 130


def _start(places: Places, options: Options) -> int:
    stage = TEST if options.is_test else APP
    if not is_current(places, stage, options.torch):
        from launcher.install import install  # noqa: PLC0415 - the start of every day does without

        install(places, stage, options.torch)
    if options.is_test:
        from launcher.checks import run_checks  # noqa: PLC0415 - as above

        return run_checks(places, options.rest)
    return _hand_over([str(places.python), "-P", "-m", "pagedesk", *options.rest])


def is_current(places: Places, stage: str, torch: str | None) -> bool:
    """Whether nothing is to be installed for a stage, nor the system to be asked for libraries again."""
    stamp = read_stamp(places)
    if stamp.torch is None or (torch and torch != stamp.torch):
        return False
    is_whole = stamp.keys.get(stage) == stage_key(places, stage, stamp.torch)
    return is_whole and stamp.has_system_packages.get(stage, False)


def _hand_over(command: list[str]) -> int:
    environment = clean_environment()
    if not IS_WINDOWS:
        os.execve(command[0], command, environment)  # noqa: S606 - our own interpreter
    import subprocess  # noqa: PLC0415 - Linux does without

    # Windows has no exec: a replaced process would return to the console at once.
    with subprocess.Popen(command, env=environment) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the program got it too and ends in its own time
