"""The entry of the command line: how a command may end."""

import argparse

import pytest

from pagedesk.commands import main as entry
from pagedesk.commands import selftest


def interrupt(_options: argparse.Namespace) -> int:
    raise KeyboardInterrupt


def test_ctrl_c_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = entry.COMMANDS["selftest"]
    monkeypatch.setitem(entry.COMMANDS, "selftest", type(command)(command.help_text, selftest.add_arguments, interrupt))
    assert (entry.main(["selftest"]), capsys.readouterr().err) == (130, "\npagedesk: Interrupted.\n")
