"""`pagedesk bench candidates`: n answers to one prompt, against n requests that share nothing."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagedesk.commands.bench.numbers import positive, sizes
from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table, setting_of, tell
from pagedesk.commands.bench.rig import Outcome, Rig, open_rig, request, run_to_end
from pagedesk.commands.options import add_model_options, model_path
from pagedesk.engine.config import EngineConfig
from pagedesk.geometry import BLOCK_SIZE, blocks_for
from pagedesk.protocol import DType

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

MAX_PROMPT_SHARE = 1.15
"""Blocks of n answers without their own tails, over the blocks of the prompt: the bound."""


@dataclass(frozen=True, slots=True)
class CandidatesRow:
    """One number of answers.

    Attributes:
        answers: How many.
        peak_blocks: The most blocks held at once.
        bound_blocks: 1.15 times the blocks of the prompt, and what each answer needs after it.
        is_within_bound: Whether the peak is no higher.
        saved_blocks: The most that sharing saved at once.
        is_saving_exact: Whether, after each step, what was saved is the sum of (references - 1) over shared blocks.
        wall_s: Until the last answer ended.
        separate_peak_blocks: The most blocks of as many requests with prompts that have nothing in common.
        separate_wall_s: Until the last of those ended.
    """

    answers: int
    peak_blocks: int
    bound_blocks: int
    is_within_bound: bool
    saved_blocks: int
    is_saving_exact: bool
    wall_s: float
    separate_peak_blocks: int
    separate_wall_s: float


@dataclass(frozen=True, slots=True)
class CandidatesReport:
    """`bench candidates --json` prints these names."""

    setting: Setting
    prompt_tokens: int
    new_tokens: int
    rows: tuple[CandidatesRow, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench candidates`."""
    add_model_options(parser)
    parser.add_argument("--answers", type=sizes, default=[1, 2, 4, 8], metavar="1,2,4,8", help="answers to a prompt")
    parser.add_argument("--prompt-tokens", type=positive, default=1000, metavar="N")
    parser.add_argument("--new-tokens", type=positive, default=64, metavar="N", help="length of each answer (64)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    num_tokens = options.prompt_tokens + options.new_tokens
    config = EngineConfig(
        Path(model_path(options)),
        dtype=DType(options.dtype),
        num_blocks=(max(options.answers) + 1) * blocks_for(num_tokens),
        max_gap_ms=None,
    )
    with open_rig(config) as rig:
        report = bench_candidates(rig, options.answers, options.prompt_tokens, options.new_tokens)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def bench_candidates(rig: Rig, numbers: list[int], num_prompt: int, num_new: int) -> CandidatesReport:
    """A row for each number of answers."""
    rig.warm_up()
    rows = tuple(_row(rig, number, num_prompt, num_new) for number in numbers)
    return CandidatesReport(setting_of(rig), num_prompt, num_new, rows)


def _row(rig: Rig, number: int, num_prompt: int, num_new: int) -> CandidatesRow:
    tell(f"{number} answers ...")
    together, watch, peak = _together(rig, number, num_prompt, num_new)
    separate, separate_peak = _separate(rig, number, num_prompt, num_new)
    bound = int(MAX_PROMPT_SHARE * blocks_for(num_prompt)) + number * _tail_blocks(num_prompt, num_new)
    return CandidatesRow(
        answers=number,
        peak_blocks=peak,
        bound_blocks=bound,
        is_within_bound=peak <= bound,
        saved_blocks=watch.saved_blocks,
        is_saving_exact=watch.is_exact,
        wall_s=together.wall_s,
        separate_peak_blocks=separate_peak,
        separate_wall_s=separate.wall_s,
    )


def _together(rig: Rig, number: int, num_prompt: int, num_new: int) -> tuple[Outcome, _Watch, int]:
    engine, watch = rig.engine(), _Watch()
    prompt = rig.prompt("candidates", num_prompt)
    engine.add(request("together", prompt, max_tokens=num_new, num_answers=number, temperature=1.0))
    return run_to_end(engine, watch), watch, engine.snapshot().peak_held_blocks


def _separate(rig: Rig, number: int, num_prompt: int, num_new: int) -> tuple[Outcome, int]:
    engine = rig.engine()
    for index in range(number):
        prompt = rig.prompt(f"separate {index}", num_prompt)
        engine.add(request(f"separate-{index}", prompt, max_tokens=num_new, temperature=1.0))
    return run_to_end(engine), engine.snapshot().peak_held_blocks


def _tail_blocks(num_prompt: int, num_new: int) -> int:
    """Blocks that an answer needs beyond the full blocks of the prompt."""
    return blocks_for(num_prompt + num_new) - num_prompt // BLOCK_SIZE


class _Watch:
    """What sharing saves, compared after each step with the references of all blocks."""

    def __init__(self) -> None:
        self.saved_blocks = 0
        self.is_exact = True

    def __call__(self, engine: Engine) -> None:
        snapshot = engine.snapshot()
        saved = snapshot.saved_bytes // snapshot.block_bytes
        self.saved_blocks = max(self.saved_blocks, saved)
        self.is_exact &= saved == sum(max(count - 1, 0) for count in snapshot.ref_counts)


def _print(report: CandidatesReport) -> None:
    print_setting(report.setting)
    print(f"Answers of {report.new_tokens:,} tokens to one prompt of {report.prompt_tokens:,}")
    print_table(report.rows)
    print("Separate: as many requests with prompts of that length that have nothing in common, so nothing is shared.")
