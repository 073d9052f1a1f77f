"""The entry of the command line: parses the arguments and turns errors into one sentence and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pagedesk.commands import bench, chat, models, selftest
from pagedesk.system.errors import UserError

COMMANDS = {
    "chat": (chat, "ask a question or chat in the terminal"),
    "models": (models, "the models on this computer"),
    "bench": (bench, "measure the engine"),
    "selftest": (selftest, "check this machine"),
}


def main(arguments: Sequence[str]) -> int:
    """Run `pagedesk chat|models|bench|selftest ...`; the exit code."""
    options = _parser().parse_args(arguments)
    command, _help = COMMANDS[options.command]
    try:
        return command.run(options)
    except UserError as error:
        print(f"pagedesk: {error.cause} {error.advice}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pagedesk", description="Without a command the window opens.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, help_text) in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=help_text, description=help_text))
    return parser
