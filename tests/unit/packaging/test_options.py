from __future__ import annotations

import pytest

from launcher.errors import LaunchError
from launcher.options import Options, parse


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", Options(None, False, False, [])),
        ("--model x.gguf", Options(None, False, False, ["--model", "x.gguf"])),
        ("chat --help", Options(None, False, False, ["chat", "--help"])),
        ("--torch cpu chat --torch cuda", Options("cpu", False, False, ["chat", "--torch", "cuda"])),
        ("--torch=cuda", Options("cuda", False, False, [])),
        ("test -k store", Options(None, True, False, ["-k", "store"])),
        ("--torch cpu test", Options("cpu", True, False, [])),
        ("--help", Options(None, False, True, ["--help"])),
    ],
)
def test_only_the_launchers_own_arguments_are_taken(line: str, expected: Options) -> None:
    assert parse(line.split()) == expected


@pytest.mark.parametrize("line", ["--torch", "--torch rocm", "--torch="])
def test_an_unknown_build_is_refused_with_the_two_that_there_are(line: str) -> None:
    with pytest.raises(LaunchError, match="cpu or cuda"):
        parse(line.split())
