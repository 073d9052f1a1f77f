"""The command line among other programs: readers that leave, streams that are closed, full disks, poor encodings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import ROOT
from tests.helpers.tiny_gguf import write_tiny_gguf

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


def shell(line: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `line` in bash, where $PAGEDESK is the program; stderr is what the program said."""
    environment = {
        **os.environ,
        "PAGEDESK_HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "kernels")]),
        "PAGEDESK": f"{sys.executable} -m pagedesk",
        **variables,
    }
    command = ["bash", "-c", f"set -o pipefail; {line}"]
    return subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("redirection", "code"),
    [
        ("| true", 1),
        ("--json | true", 1),
        (">&-", 0),
        ("2>&- >/dev/null", 0),
        ("<&-", 0),
    ],
)
def test_a_stream_that_is_gone_is_no_reason_for_a_traceback(
    redirection: str, code: int, model: Path, tmp_path: Path
) -> None:
    done = shell(f"$PAGEDESK chat --model {model} --prompt hi --max-tokens 300 {redirection}", tmp_path)
    assert (done.returncode in {0, code}, done.stderr) == (True, "")


def test_a_full_disk_is_told_in_a_sentence(model: Path, tmp_path: Path) -> None:
    done = shell(f"$PAGEDESK chat --model {model} --prompt hi --max-tokens 3 >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("pagedesk: The output could not be written (No space left on device).")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_characters_that_the_console_lacks_are_replaced(encoding: str, model: Path, tmp_path: Path) -> None:
    line = f"$PAGEDESK chat --model {model} --prompt 日本 --seed 1 --max-tokens 60 --n 2"
    done = shell(line, tmp_path, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")


def test_bytes_that_are_no_text_do_not_end_a_chat_in_the_terminal(model: Path, tmp_path: Path) -> None:
    line = f"printf 'a\\377b\\n/new\\n/quit\\n' | $PAGEDESK chat --model {model} --max-tokens 2"
    done = shell(line, tmp_path, PYTHONIOENCODING="utf-8:strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert "A new chat begins." in done.stdout


def test_a_command_that_is_not_there_is_not_sent_to_the_model(model: Path, tmp_path: Path) -> None:
    done = shell(f"printf '/help\\n' | $PAGEDESK chat --model {model} --max-tokens 2", tmp_path)
    assert "There is no command /help." in done.stdout


def test_ctrl_c_pressed_again_and_again_ends_the_program_in_order(model: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PAGEDESK_HOME": str(tmp_path), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'kernels'}"}
    command = [sys.executable, "-m", "pagedesk", "chat", "--model", str(model)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode in {0, 130}, b"Traceback" in errors) == (True, False)


@pytest.mark.parametrize("option", ["--json", "--raw", "--n 3"])
def test_options_of_one_question_need_the_question(option: str, tmp_path: Path) -> None:
    done = shell(f"$PAGEDESK chat {option}", tmp_path)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("needs --prompt TEXT")


def test_the_version_is_told(tmp_path: Path) -> None:
    assert shell("$PAGEDESK --version", tmp_path).stdout.startswith("PageDesk ")
