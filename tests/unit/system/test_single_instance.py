"""One program at a time on a folder of chats."""

import subprocess
import sys
from pathlib import Path

import pytest

from pagedesk.system.errors import UserError
from pagedesk.system.single_instance import SingleInstance, ask_for_window, take_request

ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from pagedesk.system.single_instance import SingleInstance
held = SingleInstance(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_program_is_told_which_folder_is_in_use_and_what_to_do(tmp_path):
    held = SingleInstance(tmp_path)
    with pytest.raises(UserError, match="open already") as caught:
        SingleInstance(tmp_path)
    held.release()

    assert str(tmp_path) in caught.value.cause
    assert "PAGEDESK_HOME" in caught.value.advice


def test_a_folder_can_be_used_again_after_its_release(tmp_path):
    SingleInstance(tmp_path).release()
    SingleInstance(tmp_path).release()


def test_a_program_that_was_killed_holds_nothing(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UserError):
            SingleInstance(tmp_path)
        holder.kill()

    SingleInstance(tmp_path).release()


def test_where_no_lock_file_can_be_written_the_program_starts_all_the_same(tmp_path):
    (tmp_path / "in-use").mkdir()
    SingleInstance(tmp_path).release()


def test_a_program_that_does_not_answer_leaves_no_request_behind(tmp_path):
    assert not ask_for_window(tmp_path, patience_s=0)
    assert not take_request(tmp_path)


def test_a_request_is_taken_once(tmp_path):
    (tmp_path / "show-window").touch()
    assert [take_request(tmp_path) for _ in range(2)] == [True, False]


def test_a_folder_that_cannot_be_written_is_not_asked(tmp_path):
    assert not ask_for_window(tmp_path / "missing", patience_s=0)
