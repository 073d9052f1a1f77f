from pathlib import Path

import pytest

from pagedesk.protocol import DType
from pagedesk.ui.options import WindowOptions, parse_options


def test_without_arguments_everything_is_left_to_the_program():
    assert parse_options([]) == WindowOptions()


def test_all_arguments_are_read():
    options = parse_options(
        ["--model", "a b/日本 😀.gguf", "--dtype", "float32", "--scheme", "light", "--startup-report"]
    )
    assert options == WindowOptions(Path("a b/日本 😀.gguf"), DType.FLOAT32, "light", startup_report=True)


def test_a_wrong_argument_ends_with_a_usage_line(capsys):
    with pytest.raises(SystemExit):
        parse_options(["--colour"])
    assert "usage: pagedesk" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["", " "])
def test_an_empty_path_is_refused_with_a_sentence(capsys, path):
    with pytest.raises(SystemExit):
        parse_options(["--model", path])
    assert "the path is empty; name a GGUF file" in capsys.readouterr().err


def test_a_chat_in_the_terminal_takes_the_same_model():
    arguments = parse_options(["--model", "m.gguf", "--dtype", "bfloat16"]).chat_arguments()
    assert arguments == ["chat", "--model", "m.gguf", "--dtype", "bfloat16"]
