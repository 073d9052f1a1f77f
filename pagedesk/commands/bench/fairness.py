"""`pagedesk bench fairness`: the gaps between the tokens of one answer while another chat pastes a long text.

Against the same with prompts computed in pieces as long as a step may be, as programs do that count tokens only.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pagedesk.commands.bench.numbers import positive
from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table, setting_of, tell
from pagedesk.commands.bench.rig import Outcome, Rig, open_rig, request, run_to_end
from pagedesk.commands.options import add_model_options, model_path
from pagedesk.engine.config import MAX_GAP_MS, EngineConfig
from pagedesk.geometry import BLOCK_SIZE, blocks_for
from pagedesk.protocol import DType

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

MAX_SLOWDOWN = 3
TALK_PROMPT_TOKENS = 64
UNDISTURBED_TOKENS = 48


@dataclass(frozen=True, slots=True)
class FairnessRow:
    """One way to cut the long prompt.

    Attributes:
        pieces: "in milliseconds" (as PageDesk does) or "whole".
        undisturbed_p50_ms: Median gap before the paste.
        p50_ms: Median gap while the pasted text is computed.
        p99_ms: Of a hundred of these gaps one is longer.
        max_ms: The longest one.
        bound_ms: What the p99 may be: 150 ms, or three undisturbed gaps where that is more.
        is_within_bound: Whether it is no more.
        num_gaps: Gaps while the pasted text was computed.
        paste_s: From the paste to the first token of its answer.
    """

    pieces: str
    undisturbed_p50_ms: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    bound_ms: float
    is_within_bound: bool
    num_gaps: int
    paste_s: float


@dataclass(frozen=True, slots=True)
class FairnessReport:
    """`bench fairness --json` prints these names."""

    setting: Setting
    paste_tokens: int
    rows: tuple[FairnessRow, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench fairness`."""
    add_model_options(parser)
    parser.add_argument("--paste-tokens", type=positive, default=8000, metavar="N", help="the long prompt (8000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    num_talk = _num_talk_tokens(options.paste_tokens)
    config = EngineConfig(
        Path(model_path(options)),
        dtype=DType(options.dtype),
        num_blocks=blocks_for(options.paste_tokens) + blocks_for(TALK_PROMPT_TOKENS + num_talk) + 4,
    )
    with open_rig(config) as rig:
        report = bench_fairness(rig, options.paste_tokens)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def bench_fairness(rig: Rig, paste_tokens: int) -> FairnessReport:
    """Paste twice: once with the limit in milliseconds, once with whole pieces."""
    rig.warm_up()
    rows = (
        _row(rig, "in milliseconds", paste_tokens, MAX_GAP_MS),
        _row(rig, "whole", paste_tokens, None),
    )
    return FairnessReport(setting_of(rig), paste_tokens, rows)


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest of the values that so many per cent of them do not exceed; there must be one."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1]


def _num_talk_tokens(paste_tokens: int) -> int:
    """Enough that the answer still runs when the paste is computed, in the smallest pieces."""
    return UNDISTURBED_TOKENS + paste_tokens // BLOCK_SIZE * 2 + BLOCK_SIZE


def _row(rig: Rig, name: str, paste_tokens: int, max_gap_ms: float | None) -> FairnessRow:
    tell(f"a paste of {paste_tokens} tokens, pieces {name} ...")
    talk = _Talk(rig.engine(replace(rig.config, max_gap_ms=max_gap_ms)))
    talk.begin(rig.prompt("talk", TALK_PROMPT_TOKENS), _num_talk_tokens(paste_tokens))
    undisturbed = talk.gaps_until(lambda: len(talk.outcome.tokens["talk", 0]) > UNDISTURBED_TOKENS)
    began_s = time.perf_counter()
    talk.paste(rig.prompt("paste", paste_tokens))
    disturbed = talk.gaps_until(lambda: ("paste", 0) in talk.outcome.tokens)
    paste_s = time.perf_counter() - began_s
    talk.end()
    undisturbed_p50 = percentile(undisturbed, 50)
    p99, bound = percentile(disturbed, 99), max(MAX_GAP_MS, MAX_SLOWDOWN * undisturbed_p50)
    return FairnessRow(
        pieces=name,
        undisturbed_p50_ms=undisturbed_p50,
        p50_ms=percentile(disturbed, 50),
        p99_ms=p99,
        max_ms=max(disturbed),
        bound_ms=bound,
        is_within_bound=p99 <= bound,
        num_gaps=len(disturbed),
        paste_s=paste_s,
    )


class _Talk:
    """An answer that is being written, and the moments of its tokens."""

    def __init__(self, engine: Engine) -> None:
        self.outcome = Outcome()
        self._engine = engine
        self._newest_s = 0.0

    def begin(self, prompt: tuple[int, ...], num_tokens: int) -> None:
        """Ask, and wait for the first token."""
        self._engine.add(request("talk", prompt, max_tokens=num_tokens))
        while ("talk", 0) not in self.outcome.tokens:
            self.outcome.note(self._engine.step())
        self._newest_s = time.perf_counter()

    def paste(self, prompt: tuple[int, ...]) -> None:
        """Another chat asks."""
        self._engine.add(request("paste", prompt, max_tokens=1))

    def gaps_until(self, is_over: Callable[[], bool]) -> list[float]:
        """Step on; milliseconds between the tokens of the answer."""
        gaps = []
        while not is_over():
            self.outcome.note(self._engine.step())
            now_s = time.perf_counter()
            gaps.append(1e3 * (now_s - self._newest_s))
            self._newest_s = now_s
        return gaps

    def end(self) -> None:
        """Stop the answer."""
        self._engine.cancel("talk")
        run_to_end(self._engine)


def _print(report: FairnessReport) -> None:
    print_setting(report.setting)
    print(f"One answer is written while another chat pastes {report.paste_tokens:,} tokens; gaps between its tokens")
    print_table(report.rows)
    print("Whole: pieces as long as a step may be, whatever they take.")
