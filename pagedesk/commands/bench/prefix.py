"""`pagedesk bench prefix`: how much of a prompt is computed again, against the whole prompt, which others compute."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagedesk.commands.bench.numbers import positive
from pagedesk.commands.bench.report import Setting, print_json, print_setting, print_table, setting_of, tell
from pagedesk.commands.bench.rig import Rig, open_rig, request, run_to_end
from pagedesk.commands.options import add_model_options, model_path
from pagedesk.engine.config import EngineConfig
from pagedesk.geometry import BLOCK_SIZE, blocks_for
from pagedesk.protocol import DType

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

NUM_TURNS = 10
MAX_TURN_PERCENT = 5
QUESTION_TOKENS = 20
ANSWER_TOKENS = 16


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """One thing that a user does.

    Attributes:
        what: In words.
        prompt_tokens: Tokens of the prompts, which a program without a cache computes.
        computed_tokens: Those that were computed.
        computed_percent: Their share.
        fewest_tokens: No fewer can be right.
        bound_tokens: No more are allowed.
        is_within_bound: Whether it is neither fewer nor more.
        wall_s: How long it took, answers included.
    """

    what: str
    prompt_tokens: int
    computed_tokens: int
    computed_percent: float
    fewest_tokens: int
    bound_tokens: int
    is_within_bound: bool
    wall_s: float


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """`bench prefix --json` prints these names."""

    setting: Setting
    chat_tokens: int
    rows: tuple[PrefixRow, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench prefix`."""
    add_model_options(parser)
    parser.add_argument("--chat-tokens", type=positive, default=3000, metavar="N", help="first prompts (3000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    longest = options.chat_tokens + NUM_TURNS * (QUESTION_TOKENS + ANSWER_TOKENS)
    config = EngineConfig(
        Path(model_path(options)), dtype=DType(options.dtype), num_blocks=4 * blocks_for(longest) + 1, max_gap_ms=None
    )
    with open_rig(config) as rig:
        report = bench_prefix(rig, options.chat_tokens)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def bench_prefix(rig: Rig, chat_tokens: int) -> PrefixReport:
    """Two chats in turn, then the same answer again, an edit in the middle, and a prompt that differs in one bit."""
    rig.warm_up()
    talk = _Talk(rig, chat_tokens)
    tell(f"two chats of {chat_tokens} tokens ...")
    begin = talk.turn_of_both("the first turns", fewest=2 * chat_tokens, bound=2 * chat_tokens)
    turns = talk.further_turns()
    tell("again, edited, and one bit away ...")
    rows = (begin, turns, talk.again(), talk.edited(), talk.one_bit_away())
    return PrefixReport(setting_of(rig), chat_tokens, rows)


class _Talk:
    """Two chats on one engine, and what was said in each."""

    def __init__(self, rig: Rig, chat_tokens: int) -> None:
        self._rig = rig
        self._engine: Engine = rig.engine()
        self._texts = {name: list(rig.prompt(name, chat_tokens)) for name in ("red", "blue")}
        self._num_requests = 0

    def turn_of_both(self, what: str, fewest: int, bound: int) -> PrefixRow:
        """Each chat asks once."""
        return _row(what, [self._turn(name) for name in self._texts], fewest, bound)

    def further_turns(self) -> PrefixRow:
        """The chats ask in alternation, each ten times."""
        asked = [self._turn(name, QUESTION_TOKENS) for _ in range(NUM_TURNS) for name in self._texts]
        bound = sum(num_prompt for num_prompt, _, _ in asked) * MAX_TURN_PERCENT // 100
        return _row(f"{NUM_TURNS} further turns of each", asked, len(asked) * (QUESTION_TOKENS + 1), bound)

    def again(self) -> PrefixRow:
        """The newest answer is generated once more."""
        return _row("the same answer again", [self._ask("red", self._newest_prompt())], 1, BLOCK_SIZE)

    def edited(self) -> PrefixRow:
        """A token in the middle of a chat is another one."""
        text = self._newest_prompt()
        place = len(text) // 2
        text[place] = _another(text[place])
        num_after = len(text) - place
        return _row("an edit in the middle", [self._ask("red", text)], num_after, num_after + BLOCK_SIZE)

    def one_bit_away(self) -> PrefixRow:
        """The first token differs in one bit, and with it every key: nothing may be found."""
        text = self._newest_prompt()
        text[0] = _another(text[0])
        return _row("one bit of the first token", [self._ask("red", text)], len(text), len(text))

    def _newest_prompt(self) -> list[int]:
        return self._texts["red"][:-ANSWER_TOKENS]

    def _turn(self, name: str, num_question: int = 0) -> tuple[int, int, float]:
        text = self._texts[name]
        text += self._rig.prompt(f"{name} {self._num_requests}", num_question)
        return self._ask(name, text, keeps=True)

    def _ask(self, name: str, text: list[int], *, keeps: bool = False) -> tuple[int, int, float]:
        """Ask and wait: tokens of the prompt, tokens computed, seconds."""
        self._num_requests += 1
        request_id = f"{self._num_requests}"
        self._engine.add(request(request_id, text, max_tokens=ANSWER_TOKENS, chat_id=name))
        outcome = run_to_end(self._engine)
        usage = outcome.finished[request_id, 0].usage
        if keeps:
            text += outcome.tokens[request_id, 0]
        return usage.prompt_tokens, usage.prompt_tokens - usage.cached_tokens, outcome.wall_s


def _another(token_id: int) -> int:
    """The token one bit away."""
    return token_id ^ 1


def _row(what: str, asked: list[tuple[int, int, float]], fewest: int, bound: int) -> PrefixRow:
    num_prompt, num_computed = sum(ask[0] for ask in asked), sum(ask[1] for ask in asked)
    return PrefixRow(
        what=what,
        prompt_tokens=num_prompt,
        computed_tokens=num_computed,
        computed_percent=100 * num_computed / num_prompt,
        fewest_tokens=fewest,
        bound_tokens=bound,
        is_within_bound=fewest <= num_computed <= bound,
        wall_s=sum(ask[2] for ask in asked),
    )


def _print(report: PrefixReport) -> None:
    print_setting(report.setting)
    print(f"Two chats that begin with {report.chat_tokens:,} tokens each; without a cache all of a prompt is computed")
    print_table(report.rows)
