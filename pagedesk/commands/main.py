"""The entry of the command line: parses the arguments and turns errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pagedesk.commands import chat, models, selftest
from pagedesk.commands.bench import command as bench
from pagedesk.system.errors import UserError
from pagedesk.system.streams import forget_output, is_output_error, unwritable

FAILED = 1
INTERRUPTED = 130
"""The exit code that shells use for Ctrl+C."""


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: what it is for, its options, and what it does (the exit code)."""

    help_text: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS = {
    "chat": _Command("ask a question or chat in the terminal", chat.add_arguments, chat.run),
    "models": _Command("the models on this computer", models.add_arguments, models.run),
    "bench": _Command("measure the engine", bench.add_arguments, bench.run),
    "selftest": _Command("check this machine", selftest.add_arguments, selftest.run),
}


def main(arguments: Sequence[str]) -> int:
    """Run `pagedesk chat|models|bench|selftest ...`; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except UserError as error:
        print(f"pagedesk: {error.cause} {error.advice}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # whoever read the output has enough of it
        forget_output()
        return FAILED
    except KeyboardInterrupt:
        print("\npagedesk: Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    try:
        code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except OSError as error:
        if not is_output_error(error):
            raise
        forget_output()
        raise unwritable(error) from error
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pagedesk", description="Without a command the window opens.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.help_text, description=command.help_text))
    return parser
