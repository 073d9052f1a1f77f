"""Bad input on the command line: one clear sentence with a cause and a next step, never a traceback."""

import shutil

import pytest

from tests.helpers.command_line import run_pagedesk
from tests.helpers.starter import starter_model
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf

pytestmark = pytest.mark.e2e

RAISES = "{{ raise_exception('this template wants no system message') }}"
NEVER_ENDS = (
    "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}"
    "{% endfor %}{% endfor %}{% endfor %}"
)


def refusal(tmp_path, model, *arguments):
    """What the program says when it refuses; the sentence must be alone on the error stream."""
    result = run_pagedesk("chat", "--model", str(model), "--prompt", "Hello", *arguments, home=tmp_path / "home")
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.strip().splitlines()
    return line


def test_a_file_that_is_not_gguf_is_named_as_such(tmp_path):
    path = tmp_path / "notes.gguf"
    path.write_text("Dear diary, this is no model.")

    assert "is not a GGUF file" in refusal(tmp_path, path)


def test_a_truncated_file_says_how_many_bytes_are_missing(tmp_path):
    path = tmp_path / "short.gguf"
    shutil.copyfile(starter_model(), path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1_000_000)

    assert "1,000,000 of 98,362,432 bytes are missing" in refusal(tmp_path, path)


def test_an_unknown_architecture_is_named_beside_those_that_are_known(tmp_path):
    path = write_tiny_gguf(tmp_path / "new.gguf", TinyModel(metadata={"general.architecture": "zeppelin"}))

    line = refusal(tmp_path, path)
    assert "zeppelin" in line
    assert "llama" in line


def test_a_missing_path_is_repeated(tmp_path):
    assert "nowhere.gguf" in refusal(tmp_path, tmp_path / "nowhere.gguf")


def test_a_path_with_japanese_spaces_and_an_emoji_works(tmp_path):
    folder = tmp_path / "モデル 置き場 🗻"
    folder.mkdir()
    path = write_tiny_gguf(folder / "小さい モデル 🐣.gguf")

    result = run_pagedesk(
        "chat", "--model", str(path), "--prompt", "Hello", "--max-tokens", "4", "--json", home=folder / "家"
    )
    assert result.returncode == 0, result.stderr


def test_a_template_that_raises_is_quoted(tmp_path):
    path = write_tiny_gguf(tmp_path / "raises.gguf", TinyModel(chat_template=RAISES))

    assert "this template wants no system message" in refusal(tmp_path, path)


def test_a_template_that_never_ends_is_given_up_after_a_second(tmp_path):
    path = write_tiny_gguf(tmp_path / "endless.gguf", TinyModel(chat_template=NEVER_ENDS))

    assert "1 s" in refusal(tmp_path, path)


def test_an_empty_message_is_refused(tmp_path):
    result = run_pagedesk("chat", "--prompt", "", home=tmp_path / "home")

    assert result.returncode == 1
    assert "empty" in result.stderr


def test_a_message_of_100000_characters_is_refused_with_both_lengths(tmp_path):
    result = run_pagedesk("chat", "--prompt", "a lamp " * 14286, home=tmp_path / "home")

    assert result.returncode == 1
    assert "8,192" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--temperature", "nan"],
        ["--temperature", "-1"],
        ["--top-k", "-3"],
        ["--top-p", "1.5"],
        ["--n", "0"],
        ["--n", "10000"],
        ["--max-tokens", "0"],
        ["--max-tokens", "1000000"],
        ["--repetition-penalty", "nan"],
        ["--typical-p", "0"],
        ["--logit-bias", "1000000=1"],
        ["--logit-bias", "1=nan"],
        ["--stop", ""],
        ["--stop", "x" * 1000],
        [f"--stop={number}" for number in range(65)],
    ],
)
def test_numbers_out_of_range_are_refused_with_a_sentence(tmp_path, arguments):
    model = write_tiny_gguf(tmp_path / "tiny.gguf")

    assert refusal(tmp_path, model, *arguments).startswith("pagedesk: ")
