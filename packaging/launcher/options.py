"""The launcher's own arguments; everything else belongs to PageDesk."""

from __future__ import annotations

from dataclasses import dataclass

from launcher.errors import LaunchError

BUILDS = ("cpu", "cuda")

HELP = """\
usage: python3 packaging/launch.py [--torch cpu|cuda] [arguments of PageDesk]
       python3 packaging/launch.py [--torch cpu|cuda] test [arguments of pytest]

Starts PageDesk. The first start makes .venv beside pyproject.toml and takes some minutes.

  --model PATH      a GGUF file or a model folder in place of the starter model
  --dtype auto|float32|bfloat16|float16
                    number format of weights and cache
  --scheme dark|light
                    colours; without it what the desktop asks for
  --startup-report  tell how long the start took
  --version         name and version
  chat, models, bench, selftest ...
                    PageDesk on the command line; `chat --help` tells more
  test              run everything that the checks of a change run
  --torch cpu|cuda  take this build of torch, now and from now on; without it: CUDA where an NVIDIA driver
                    is found at the first start, CPU otherwise
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for.

    Attributes:
        torch: The build of torch that was named; None for the launcher's choice.
        is_test: Run the checks, not the program.
        wants_help: Only tell how to call the launcher.
        rest: Arguments for PageDesk, or for pytest.
    """

    torch: str | None
    is_test: bool
    wants_help: bool
    rest: list[str]


def parse(arguments: list[str]) -> Options:
    """Take the launcher's own arguments from the front.

    Raises:
        LaunchError: `--torch` without one of its two values.
    """
    rest = list(arguments)
    torch = None
    while rest and (rest[0] == "--torch" or rest[0].startswith("--torch=")):
        name, _, value = rest.pop(0).partition("=")
        torch = value or (rest.pop(0) if rest else "")
        if torch not in BUILDS:
            raise LaunchError(f"{name} takes cpu or cuda, not '{torch}'.", "Try: python3 packaging/launch.py --help")
    is_test = rest[:1] == ["test"]
    return Options(torch, is_test, rest[:1] in (["-h"], ["--help"]), rest[1:] if is_test else rest)
