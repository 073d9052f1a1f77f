"""What the command line asks of the window, as a plain value; stdlib only, so that it is read before Qt is.

Where there is no display, the chat in the terminal takes over with the same model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pagedesk import __version__
from pagedesk.protocol import DType


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """How to start.

    Attributes:
        model: A GGUF file or model folder; None: the starter model.
        dtype: Number format of weights and cache.
        scheme: `dark` or `light`; None: what the desktop asks for.
        startup_report: Tell on stdout how long the first paint and the engine took.
    """

    model: Path | None = None
    dtype: DType = DType.AUTO
    scheme: str | None = None
    startup_report: bool = False

    def chat_arguments(self) -> list[str]:
        """The command line of a chat in the terminal with the same model."""
        model = ["--model", str(self.model)] if self.model else []
        return ["chat", *model, "--dtype", self.dtype.value]


def model_path(text: str) -> Path:
    """A path on the command line; an empty one, from a variable that is not set, is not the folder we stand in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; name a GGUF file or a model folder")
    return Path(text)


def parse_options(argv: Sequence[str]) -> WindowOptions:
    """Read the arguments after the program's name; ends the program with a usage line if they are wrong."""
    parser = argparse.ArgumentParser(
        prog="pagedesk",
        usage="pagedesk [options]\n       pagedesk chat|models|bench|selftest [options]",
        description="Without a command the window opens. `pagedesk COMMAND --help` tells of each command.",
    )
    dtypes = ", ".join(DType)
    parser.add_argument(
        "--model",
        type=model_path,
        metavar="PATH",
        help="a GGUF file or a model folder (default: the one that loaded last, or the starter)",
    )
    parser.add_argument(
        "--dtype",
        type=DType,
        choices=list(DType),
        default=DType.AUTO,
        metavar="TYPE",
        help=f"number format of weights and cache: {dtypes} (default: auto, the fastest here)",
    )
    parser.add_argument("--scheme", choices=["dark", "light"], help="colours (default: what the desktop asks for)")
    parser.add_argument("--startup-report", action="store_true", help="print how long the start took")
    parser.add_argument("--version", action="version", version=f"PageDesk {__version__}")
    parsed = parser.parse_args(argv)
    return WindowOptions(parsed.model, parsed.dtype, parsed.scheme, parsed.startup_report)
