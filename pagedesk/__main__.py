"""Where the program begins: a command, the window, or without a display the chat in the terminal.

Imports what it is asked for and no more, so that a command does not wait for Qt nor the window for torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pagedesk.system.streams import leave, prepare_streams
from pagedesk.ui.display import display_problem
from pagedesk.ui.options import parse_options

COMMANDS = ("chat", "models", "bench", "selftest")


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments after the program's name; returns the exit code."""
    prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in COMMANDS:
        return _run_command(arguments)
    options = parse_options(arguments)
    problem = display_problem()
    if problem is None:
        from pagedesk import app  # noqa: PLC0415 - Qt must not be imported where it cannot run

        return app.main(options)
    sys.stderr.write(f"{problem}\nPageDesk chats here in the terminal instead.\n")
    return _run_command(options.chat_arguments())


def _run_command(arguments: Sequence[str]) -> int:
    from pagedesk.commands.main import main as run_command  # noqa: PLC0415 - the window does not need it

    return run_command(arguments)


if __name__ == "__main__":
    leave(main())
