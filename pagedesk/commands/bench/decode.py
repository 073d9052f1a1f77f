"""`pagedesk bench decode`: tokens a second, measured on the engine itself without a window."""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagedesk.commands.bench.numbers import positive, sizes
from pagedesk.commands.options import add_model_options, model_path
from pagedesk.engine.config import EngineConfig
from pagedesk.protocol import DType, Event, Failed, Finished, Message, Role, SamplingParams, Submit, TextDelta, TextPart
from pagedesk.system.errors import UserError

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine

FIRST_PROMPT_TOKEN = 1000
"""Prompts are made of ids from here on: ordinary words in every vocabulary of more than 2,000 tokens."""


@dataclass(frozen=True, slots=True)
class DecodeRow:
    """One line of `bench decode`; `--json` prints these names.

    `prefill_tokens_per_s` counts prompt tokens until every sequence has its first token, `decode_tokens_per_s` the
    tokens of all sequences after that, and `step_ms` is the mean step then; both are 0 where nothing came after that.
    """

    batch: int
    prompt_tokens: int
    new_tokens: int
    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    step_ms: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench decode`."""
    add_model_options(parser)
    parser.add_argument("--batch", type=sizes, default=[1, 4, 8], metavar="1,4,8", help="sequences at once")
    parser.add_argument("--prompt-tokens", type=positive, default=128, metavar="N")
    parser.add_argument("--new-tokens", type=positive, default=64, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON array, a row a batch")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    rows = bench_decode(
        EngineConfig(Path(model_path(options)), dtype=DType(options.dtype), max_gap_ms=None),
        options.batch,
        options.prompt_tokens,
        options.new_tokens,
    )
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    print("batch  prompt tok/s  decode tok/s  ms a step")
    for row in rows:
        print(f"{row.batch:5}  {row.prefill_tokens_per_s:12.1f}  {row.decode_tokens_per_s:12.1f}  {row.step_ms:9.2f}")
    return 0


def bench_decode(config: EngineConfig, batches: list[int], num_prompt: int, num_new: int) -> list[DecodeRow]:
    """A row a batch size, all on one loaded model, after one round that is not counted."""
    from pagedesk.engine.engine import load_engine  # noqa: PLC0415 - imports torch, which --help must not wait for

    engine = load_engine(config, lambda _stage, _done, _total: None)
    try:
        DecodeRun(engine, "warm-up", 1, num_prompt, num_new).measure()
        return [DecodeRun(engine, f"{batch}", batch, num_prompt, num_new).measure() for batch in batches]
    finally:
        engine.close()


class DecodeRun:
    """One batch size: every prompt is different, so that nothing is found in the cache."""

    def __init__(self, engine: Engine, name: str, batch: int, num_prompt: int, num_new: int) -> None:
        self._engine = engine
        self._name = name
        self._batch = batch
        self._num_prompt = num_prompt
        self._num_new = num_new
        self._begun: set[str] = set()
        self._ended: set[str] = set()
        self._num_tokens = 0

    def measure(self) -> DecodeRow:
        """Run all sequences to their ends.

        Raises:
            UserError: A request was refused or failed.
        """
        for index in range(self._batch):
            self._engine.add(self._submit(index))
        started = time.perf_counter()
        self._step_until(self._begun)
        prefilled, num_prefilled = time.perf_counter(), self._num_tokens
        num_steps = self._step_until(self._ended)
        decode_s, num_decoded = time.perf_counter() - prefilled, self._num_tokens - num_prefilled
        return DecodeRow(
            batch=self._batch,
            prompt_tokens=self._num_prompt,
            new_tokens=self._num_new,
            prefill_tokens_per_s=self._batch * self._num_prompt / (prefilled - started),
            decode_tokens_per_s=num_decoded / decode_s if num_decoded else 0.0,
            step_ms=1000 * decode_s / num_steps if num_steps else 0.0,
        )

    def _step_until(self, seen: set[str]) -> int:
        """Step until every request is in this set; the number of steps."""
        num_steps = 0
        while len(seen) < self._batch:
            num_steps += 1
            for event in self._engine.step():
                self._note(event)
        return num_steps

    def _note(self, event: Event) -> None:
        match event:
            case TextDelta(request_id=request_id, token_ids=token_ids):
                self._begun.add(request_id)
                self._num_tokens += len(token_ids)
            case Finished(request_id=request_id):
                self._ended.add(request_id)
            case Failed(cause=cause, advice=advice):
                raise UserError(cause, advice)
            case _:
                pass

    def _submit(self, index: int) -> Submit:
        name = f"bench-{self._name}-{index}"
        draw = random.Random(name)  # noqa: S311 - any spread will do, it must only be the same each time
        ids = tuple(draw.randrange(FIRST_PROMPT_TOKEN, 2 * FIRST_PROMPT_TOKEN) for _ in range(self._num_prompt))
        return Submit(
            request_id=name,
            chat_id=name,
            messages=(Message(Role.USER, (TextPart(""),), ids),),
            sampling=SamplingParams(temperature=0, max_tokens=self._num_new, ignore_eos=True),
            raw=True,
            origin="bench",
        )
