"""The command line on the starter model: other programs read its JSON, people read its sentences."""

import json

import pytest

from tests.helpers.command_line import run_pagedesk
from tests.helpers.starter import starter_model
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf

pytestmark = pytest.mark.e2e

GREEDY = ["--temperature", "0", "--dtype", "float32"]


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def ask(home, *arguments):
    result = run_pagedesk("chat", *arguments, home=home)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_chat_prints_one_json_object_with_the_agreed_names(home):
    report = json.loads(ask(home, "--prompt", "Name three fruits.", "--max-tokens", "12", "--json", *GREEDY))

    assert report["model"] == str(starter_model())
    (answer,) = report["answers"]
    assert answer["text"]
    assert len(answer["token_ids"]) == report["usage"]["completion_tokens"] == 12
    assert answer["finish_reason"] == "length"
    names = {"prompt_tokens", "cached_tokens", "completion_tokens", "first_missed_index", "miss_reason"}
    assert set(report["usage"]) == names
    assert report["dropped"] == {"messages": 0, "tokens": 0}
    assert set(report["timings"]) == {"wait_ms", "prefill_ms", "ttft_ms", "decode_tokens_per_s"}
    assert set(report["pool"]) == {"block_size", "num_blocks", "peak_blocks", "shared_blocks", "copied_blocks"}
    assert report["pool"]["block_size"] == 16


def test_four_answers_share_the_blocks_of_their_prompt(home):
    question = "Tell a story about a lighthouse. " * 12
    report = json.loads(ask(home, "--prompt", question, "--max-tokens", "20", "--n", "4", "--seed", "7", "--json"))

    num_prompt_blocks = report["usage"]["prompt_tokens"] // 16
    assert len(report["answers"]) == 4
    assert len({answer["text"] for answer in report["answers"]}) > 1
    assert report["pool"]["shared_blocks"] >= num_prompt_blocks
    assert report["pool"]["peak_blocks"] <= num_prompt_blocks + 4 * 3
    assert report["pool"]["copied_blocks"] <= 3


def test_the_same_seed_gives_the_same_text(home):
    arguments = ["--prompt", "Invent a town.", "--max-tokens", "16", "--seed", "3", "--dtype", "float32"]

    assert ask(home, *arguments) == ask(home, *arguments)


def test_a_raw_prompt_is_continued_without_a_template(home):
    report = json.loads(
        ask(home, "--raw", "--prompt", "The capital of France is", "--max-tokens", "4", "--json", *GREEDY)
    )

    assert report["usage"]["prompt_tokens"] == 5
    assert "Paris" in report["answers"][0]["text"]


def test_a_chat_in_the_terminal_remembers_what_was_said_until_a_new_one_begins(home):
    turns = "Name a fruit.\nSay that again.\n/new\nSay that again.\n/quit\n"
    result = run_pagedesk("chat", "--max-tokens", "12", *GREEDY, home=home, stdin=turns)

    assert result.returncode == 0, result.stderr
    notes = ("[The ", "A new chat begins.")
    said = [line for line in result.stdout.splitlines() if line and not line.startswith(notes)]
    _greeting, _fruit, with_history, without = said
    assert with_history != without


def chat_of_long_lines(home, tmp_path, *arguments):
    model = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(context_length=256))
    lines = "".join(f"{letter * 100}\n" for letter in "abcd")
    return run_pagedesk("chat", "--model", str(model), "--max-tokens", "4", *arguments, home=home, stdin=lines)


def test_a_chat_in_the_terminal_that_outgrows_the_context_goes_on_without_its_oldest_turns(home, tmp_path):
    result = chat_of_long_lines(home, tmp_path, "--overflow", "drop-oldest")

    told = result.stderr.strip().splitlines()
    assert [line.split(" (")[0] for line in told] == [
        "pagedesk: left out to make room: 2 of the oldest messages",
        "pagedesk: left out to make room: 4 of the oldest messages",
    ]
    assert "takes at most 256" not in result.stdout


def test_a_chat_in_the_terminal_that_outgrows_the_context_is_refused_else(home, tmp_path):
    result = chat_of_long_lines(home, tmp_path)

    assert result.stderr == ""
    assert result.stdout.count("this model takes at most 256 with the answer") == 2


def test_bench_decode_prints_a_row_for_each_batch(home):
    result = run_pagedesk(
        "bench", "decode", "--batch", "1,2", "--prompt-tokens", "32", "--new-tokens", "4", "--json", home=home
    )

    rows = json.loads(result.stdout)
    assert [row["batch"] for row in rows] == [1, 2]
    assert all(row["prefill_tokens_per_s"] > 0 and row["decode_tokens_per_s"] > 0 for row in rows)


def test_models_list_names_the_starter_model(home):
    rows = json.loads(run_pagedesk("models", "list", "--json", home=home).stdout)

    assert [row["path"] for row in rows] == [str(starter_model())]
    assert rows[0]["architecture"] == "llama"
    assert rows[0]["file_bytes"] == 98_362_432


def test_selftest_finds_the_engine_repeatable(home):
    result = run_pagedesk("selftest", "--json", home=home)

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["cached_tokens"] >= 16
