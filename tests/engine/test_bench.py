"""The scenarios of `pagedesk bench` on a tiny model: their figures agree with each other; nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pagedesk.commands.bench.candidates import bench_candidates
from pagedesk.commands.bench.chats import ChatsReport, bench_chats
from pagedesk.commands.bench.fairness import FairnessReport, bench_fairness, percentile
from pagedesk.commands.bench.prefix import NUM_TURNS, bench_prefix
from pagedesk.commands.bench.pressure import bench_pressure
from pagedesk.commands.bench.rig import Rig, open_rig
from pagedesk.commands.bench.trace import sharegpt_like
from pagedesk.commands.main import main
from pagedesk.engine.config import EngineConfig
from pagedesk.geometry import blocks_for
from pagedesk.protocol import DType
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf

CACHE_TOKENS = 208
PASTE_TOKENS = 700


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("bench") / "tiny.gguf", TinyModel(context_length=2048))


@contextmanager
def rig_of(model: Path, num_blocks: int, max_model_len: int | None = None) -> Iterator[Rig]:
    config = EngineConfig(model, dtype=DType.FLOAT32, device="cpu", num_blocks=num_blocks, max_model_len=max_model_len)
    with open_rig(config) as rig:
        yield rig


@pytest.fixture(scope="module")
def chats(model: Path) -> ChatsReport:
    with rig_of(model, CACHE_TOKENS // 16, 205) as rig:
        return bench_chats(rig, sharegpt_like(12, 0.1, seed=1), CACHE_TOKENS)


@pytest.fixture(scope="module")
def fairness(model: Path) -> FairnessReport:
    with rig_of(model, blocks_for(PASTE_TOKENS) + 20) as rig:
        return bench_fairness(rig, PASTE_TOKENS)


def test_every_allocation_generates_the_same_number_of_tokens(chats: ChatsReport) -> None:
    expected = chats.num_chats * chats.mean_new_tokens
    assert [row.allocation for row in chats.rows] == ["paged", "exact", "maximum"]
    assert [row.tokens_per_s * row.wall_s for row in chats.rows] == pytest.approx([expected] * 3)


def test_the_less_is_reserved_the_less_is_wasted_and_the_more_chats_run(chats: ChatsReport) -> None:
    paged, exact, maximum = chats.rows
    assert paged.waste_percent < exact.waste_percent < maximum.waste_percent < 100
    assert paged.mean_running > exact.mean_running > maximum.mean_running > 0.9
    assert paged.num_steps < exact.num_steps < maximum.num_steps


def test_a_cache_for_one_chat_of_the_maximum_length_runs_them_one_by_one(chats: ChatsReport) -> None:
    assert chats.rows[2].mean_running <= 1.0


def test_who_reserves_loses_no_turn(chats: ChatsReport) -> None:
    assert [row.lost_turns for row in chats.rows[1:]] == [0, 0]


def test_the_speed_up_is_that_of_the_rows(chats: ChatsReport) -> None:
    paged, exact, maximum = (row.tokens_per_s for row in chats.rows)
    assert (chats.speedup_over_maximum, chats.speedup_over_exact) == (paged / maximum, paged / exact)


def test_candidates_share_their_prompt_and_what_is_saved_is_counted_exactly(model: Path) -> None:
    with rig_of(model, 9 * blocks_for(320)) as rig:
        rows = bench_candidates(rig, [1, 2, 8], 300, 20).rows
    assert all(row.is_saving_exact and row.is_within_bound for row in rows)
    assert [row.separate_peak_blocks for row in rows] == [row.answers * rows[0].peak_blocks for row in rows]
    # Full blocks of the prompt are saved by each further answer; at the fork all share the partial one too.
    assert [row.saved_blocks for row in rows] == [(row.answers - 1) * blocks_for(300) for row in rows]


def test_a_prefix_is_computed_once_and_only_what_changed_again(model: Path) -> None:
    with rig_of(model, 4 * blocks_for(800)) as rig:
        begin, turns, again, edited, one_bit = bench_prefix(rig, 400).rows
    assert all(row.is_within_bound for row in (begin, turns, again, edited, one_bit))
    assert (turns.computed_tokens, again.computed_tokens) == (2 * NUM_TURNS * 21, 1)
    assert one_bit.computed_tokens == one_bit.prompt_tokens


def test_chats_under_pressure_all_end_with_the_text_that_they_give_alone(model: Path) -> None:
    with rig_of(model, int(1.5 * blocks_for(100))) as rig:
        alone, together = bench_pressure(rig, 60, 40, int(1.5 * blocks_for(100))).rows
    assert (alone.num_finished, alone.num_same, alone.lost_turns) == (4, 4, 0)
    assert (together.num_finished, together.num_same) == (4, 4)
    assert together.lost_turns > 0
    assert together.evicted_blocks > 0


def test_pieces_in_milliseconds_are_no_fewer_than_whole_ones(fairness: FairnessReport) -> None:
    in_ms, whole = fairness.rows
    assert (in_ms.pieces, whole.pieces) == ("in milliseconds", "whole")
    assert in_ms.num_gaps >= whole.num_gaps >= PASTE_TOKENS // 256


def test_the_figures_of_the_gaps_are_in_order(fairness: FairnessReport) -> None:
    for row in fairness.rows:
        assert 0 < row.p50_ms <= row.p99_ms <= row.max_ms
        assert row.is_within_bound == (row.p99_ms <= row.bound_ms)
        assert row.bound_ms == max(150.0, 3 * row.undisturbed_p50_ms)


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 50), (99, 99), (99.5, 100), (100, 100)])
def test_a_percentile_is_one_of_the_values(percent: float, value: int) -> None:
    assert percentile(range(100, 0, -1), percent) == value


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("candidates --answers 1,2 --prompt-tokens 40 --new-tokens 4", {"prompt_tokens", "new_tokens"}),
        ("prefix --chat-tokens 60", {"chat_tokens"}),
        ("pressure --prompt-tokens 40 --new-tokens 8", {"num_chats", "chat_tokens", "num_blocks"}),
        ("fairness --paste-tokens 100", {"paste_tokens"}),
        (
            "chats --scale 0.05 --num-chats 4",
            {"num_chats", "kv_tokens", "max_tokens", "mean_prompt_tokens", "mean_new_tokens"}
            | {"speedup_over_maximum", "speedup_over_exact"},
        ),
    ],
)
def test_each_scenario_prints_one_json_object_with_the_agreed_names(
    arguments: str, names: set[str], model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments.split(), "--model", str(model), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report.keys() == {"setting", "rows"} | names
    assert report["setting"].keys() == {"model", "device", "load"}


@pytest.mark.parametrize("scenario", ["chats --scale 0.05 --num-chats 4", "prefix --chat-tokens 60"])
def test_without_json_a_table_is_printed(scenario: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *scenario.split(), "--model", str(model)]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("tiny on ")
    assert last


def test_a_cache_that_does_not_hold_the_longest_chat_is_refused(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "chats", "--kv-tokens", "1000", "--model", str(model)]) == 1
    assert "does not hold the longest chat, 2,048 tokens. Set --kv-tokens to 2,048" in capsys.readouterr().err
