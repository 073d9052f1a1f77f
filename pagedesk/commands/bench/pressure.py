"""`pagedesk bench pressure`: four chats in a cache for one and a half, against each of them alone.

In float32, so that the text can be compared token by token.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from pagedesk.commands.bench.numbers import positive
from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table, setting_of, tell
from pagedesk.commands.bench.rig import Outcome, Rig, open_rig, request, run_to_end
from pagedesk.commands.options import add_model_path, model_path
from pagedesk.engine.config import EngineConfig
from pagedesk.geometry import blocks_for
from pagedesk.protocol import DType, Submit

NUM_CHATS = 4
CHATS_THAT_FIT = 1.5


@dataclass(frozen=True, slots=True)
class PressureRow:
    """The chats alone, one after the other, or all at once.

    Attributes:
        run: "alone" or "together".
        num_finished: Chats that came to their end.
        num_same: Chats whose text is, token by token, the one that they give alone.
        lost_turns: How often a chat lost its turn for lack of blocks.
        evicted_blocks: Cached blocks that were taken for something else.
        peak_blocks: The most blocks held at once.
        wall_s: Until the last one ended.
    """

    run: str
    num_finished: int
    num_same: int
    lost_turns: int
    evicted_blocks: int
    peak_blocks: int
    wall_s: float


@dataclass(frozen=True, slots=True)
class PressureReport:
    """`bench pressure --json` prints these names."""

    setting: Setting
    num_chats: int
    chat_tokens: int
    num_blocks: int
    rows: tuple[PressureRow, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench pressure`."""
    add_model_path(parser)
    parser.add_argument("--prompt-tokens", type=positive, default=200, metavar="N", help="of each chat (200)")
    parser.add_argument("--new-tokens", type=positive, default=120, metavar="N", help="of each answer (120)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    num_blocks = int(CHATS_THAT_FIT * blocks_for(options.prompt_tokens + options.new_tokens))
    config = EngineConfig(Path(model_path(options)), dtype=DType.FLOAT32, num_blocks=num_blocks)
    with open_rig(config) as rig:
        report = bench_pressure(rig, options.prompt_tokens, options.new_tokens, num_blocks)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def bench_pressure(rig: Rig, num_prompt: int, num_new: int, num_blocks: int) -> PressureReport:
    """Each chat alone, then all at once."""
    rig.warm_up()
    submits = [
        request(f"chat-{index}", rig.prompt(f"pressure {index}", num_prompt), max_tokens=num_new)
        for index in range(NUM_CHATS)
    ]
    tell(f"{NUM_CHATS} chats alone, then together ...")
    alone, alone_row = _run(rig, "alone", [[submit] for submit in submits], None)
    _, together_row = _run(rig, "together", [submits], alone)
    return PressureReport(setting_of(rig), NUM_CHATS, num_prompt + num_new, num_blocks, (alone_row, together_row))


def _run(rig: Rig, name: str, groups: list[list[Submit]], expected: Outcome | None) -> tuple[Outcome, PressureRow]:
    """Run groups of requests one after the other on one engine; what is expected is compared."""
    engine, whole = rig.engine(), Outcome()
    for group in groups:
        for submit in group:
            engine.add(submit)
        outcome = run_to_end(engine)
        whole.tokens |= outcome.tokens
        whole.finished |= outcome.finished
        whole.wall_s += outcome.wall_s
    wanted = whole.tokens if expected is None else expected.tokens
    use = engine.pool_use()
    return whole, PressureRow(
        run=name,
        num_finished=len(whole.finished),
        num_same=sum(whole.tokens[answer] == tokens for answer, tokens in wanted.items()),
        lost_turns=use.num_lost_turns,
        evicted_blocks=use.num_evicted_blocks,
        peak_blocks=engine.snapshot().peak_held_blocks,
        wall_s=whole.wall_s,
    )


def _print(report: PressureReport) -> None:
    print_setting(report.setting)
    print(
        f"{report.num_chats} chats of {report.chat_tokens:,} tokens in a cache of {report.num_blocks} blocks, "
        f"which holds {CHATS_THAT_FIT:g} of them; float32"
    )
    print_table(report.rows)
