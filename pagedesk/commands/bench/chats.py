"""`pagedesk bench chats`: many chats in little cache, by three ways to give them memory.

Paged takes blocks as text grows. The two others reserve at admission and keep until the end, as programs do that hold
each sequence in one stretch: the longest length that there is, or (which nobody can know) the exact final one. Weights,
kernels, scheduler and sampling are the same; `Allocation` is all that differs.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pagedesk.commands.bench.numbers import positive, share
from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table, setting_of, tell
from pagedesk.commands.bench.rig import Rig, open_rig, request, run_to_end
from pagedesk.commands.bench.trace import MAX_TOKENS, TracedChat, sharegpt_like
from pagedesk.commands.options import add_model_options, model_path
from pagedesk.engine.config import Allocation, EngineConfig
from pagedesk.geometry import BLOCK_SIZE, blocks_for
from pagedesk.protocol import DType
from pagedesk.system.errors import UserError

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

_NAMES = {
    Allocation.ON_DEMAND: "paged",
    Allocation.RESERVE_EXACT: "exact",
    Allocation.RESERVE_MAXIMUM: "maximum",
}


@dataclass(frozen=True, slots=True)
class ChatsRow:
    """One way to give memory; means are over steps.

    Attributes:
        allocation: "paged", "exact" or "maximum".
        tokens_per_s: Generated tokens of all chats over the whole time.
        mean_running: Chats that had the turn.
        waste_percent: Share of the slots held that held no token.
        lost_turns: How often a chat lost its turn for lack of blocks.
        num_steps: Steps in all.
        wall_s: The whole time.
    """

    allocation: str
    tokens_per_s: float
    mean_running: float
    waste_percent: float
    lost_turns: int
    num_steps: int
    wall_s: float


@dataclass(frozen=True, slots=True)
class ChatsReport:
    """`bench chats --json` prints these names.

    Attributes:
        setting: Where it was measured.
        num_chats: Chats, all of them sent at once.
        kv_tokens: Tokens that the cache holds.
        max_tokens: The longest sequence.
        mean_prompt_tokens: Of the chats.
        mean_new_tokens: Of the chats.
        rows: One for each allocation.
        speedup_over_maximum: Tokens a second of paged over those of reserving the maximum.
        speedup_over_exact: The same over reserving the exact length.
    """

    setting: Setting
    num_chats: int
    kv_tokens: int
    max_tokens: int
    mean_prompt_tokens: float
    mean_new_tokens: float
    rows: tuple[ChatsRow, ...]
    speedup_over_maximum: float
    speedup_over_exact: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench chats`."""
    add_model_options(parser)
    parser.add_argument("--kv-tokens", type=positive, default=2048, metavar="N", help="size of the cache (2048)")
    parser.add_argument("--num-chats", type=positive, default=64, metavar="N", help="chats, sent at once (64)")
    parser.add_argument(
        "--scale",
        type=share,
        default=1.0,
        metavar="X",
        help="shrink all lengths and the cache, for a quick look: 0.25 takes a sixteenth of the time or less "
        "(1: about 20 minutes on two cores, a few on a card)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="order of the lengths (1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    max_tokens = round(options.scale * MAX_TOKENS)
    kv_tokens = blocks_for(round(options.scale * options.kv_tokens)) * BLOCK_SIZE
    if kv_tokens < max_tokens:
        raise UserError(
            f"A cache of {kv_tokens:,} tokens does not hold the longest chat, {max_tokens:,} tokens.",
            f"Set --kv-tokens to {MAX_TOKENS:,} or more.",
        )
    config = EngineConfig(
        Path(model_path(options)),
        dtype=DType(options.dtype),
        num_blocks=kv_tokens // BLOCK_SIZE,
        max_model_len=max_tokens,
    )
    with open_rig(config) as rig:
        report = bench_chats(rig, sharegpt_like(options.num_chats, options.scale, options.seed), kv_tokens)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def bench_chats(rig: Rig, trace: list[TracedChat], kv_tokens: int) -> ChatsReport:
    """Run the trace once for each allocation."""
    rig.warm_up()
    rows = {allocation: _run(rig, trace, allocation) for allocation in Allocation}
    paged = rows[Allocation.ON_DEMAND].tokens_per_s
    return ChatsReport(
        setting=setting_of(rig),
        num_chats=len(trace),
        kv_tokens=kv_tokens,
        max_tokens=rig.max_model_len,
        mean_prompt_tokens=sum(chat.prompt_tokens for chat in trace) / len(trace),
        mean_new_tokens=sum(chat.new_tokens for chat in trace) / len(trace),
        rows=tuple(rows.values()),
        speedup_over_maximum=paged / rows[Allocation.RESERVE_MAXIMUM].tokens_per_s,
        speedup_over_exact=paged / rows[Allocation.RESERVE_EXACT].tokens_per_s,
    )


def _run(rig: Rig, trace: list[TracedChat], allocation: Allocation) -> ChatsRow:
    tell(f"{len(trace)} chats, {_NAMES[allocation]} ...")
    engine = rig.engine(replace(rig.config, allocation=allocation))
    for index, chat in enumerate(trace):
        prompt = rig.prompt(f"chat {index}", chat.prompt_tokens)
        engine.add(request(f"chat-{index}", prompt, max_tokens=chat.new_tokens))
    watch = _Watch()
    outcome = run_to_end(engine, watch)
    return ChatsRow(
        allocation=_NAMES[allocation],
        tokens_per_s=outcome.num_tokens / outcome.wall_s,
        mean_running=watch.num_running / watch.num_steps,
        waste_percent=100 * (1 - watch.num_used_tokens / (watch.num_held_blocks * BLOCK_SIZE)),
        lost_turns=engine.pool_use().num_lost_turns,
        num_steps=watch.num_steps,
        wall_s=outcome.wall_s,
    )


class _Watch:
    """Sums over steps; a step after which nobody runs counts for nothing."""

    def __init__(self) -> None:
        self.num_steps = self.num_running = self.num_held_blocks = self.num_used_tokens = 0

    def __call__(self, engine: Engine) -> None:
        use = engine.pool_use()
        self.num_steps += 1
        self.num_running += use.num_running
        self.num_held_blocks += use.num_held_blocks
        self.num_used_tokens += use.num_used_tokens


def _print(report: ChatsReport) -> None:
    print_setting(report.setting)
    print(
        f"{report.num_chats} chats, prompts of {report.mean_prompt_tokens:.0f} and answers of "
        f"{report.mean_new_tokens:.0f} tokens on average, at most {report.max_tokens:,} together; "
        f"a cache of {report.kv_tokens:,} tokens"
    )
    print_table(report.rows)
    print(
        f"Paged is {report.speedup_over_maximum:.2f} times as fast as reserving the maximum length, "
        f"{report.speedup_over_exact:.2f} times as fast as reserving the exact one, which nobody knows beforehand."
    )
