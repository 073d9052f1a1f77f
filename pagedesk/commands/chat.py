"""`pagedesk chat`: one question and its answers, as text or as JSON; without a question a chat in the terminal."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any

from pagedesk.commands import terminal_chat
from pagedesk.commands.client import Answer, EngineClient
from pagedesk.commands.options import (
    add_model_options,
    add_overflow_option,
    add_sampling_options,
    load_command,
    model_path,
    sampling_params,
)
from pagedesk.commands.progress import LoadProgressLine
from pagedesk.protocol import Message, Overflow, PoolSnapshot, Role, Submit, TextDelta, TurnsDropped

REQUEST_ID = "chat"
RAW_MAX_TOKENS = 256
"""A base model seldom comes to an end by itself."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk chat`."""
    add_model_options(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="the question; without it a chat opens in the terminal")
    parser.add_argument("--system", metavar="TEXT", help="a system prompt")
    add_sampling_options(parser)
    add_overflow_option(parser)
    parser.add_argument("--n", type=int, default=1, metavar="K", help="so many answers to the one question")
    parser.add_argument(
        "--raw",
        action="store_true",
        help=f"no chat template, for base models; at most {RAW_MAX_TOKENS} new tokens unless told",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(refuse=parser.error)


def run(options: argparse.Namespace) -> int:
    """Answer the question, or talk in the terminal; the exit code."""
    if options.prompt is None:
        _refuse_what_needs_a_prompt(options)
        return terminal_chat.run(
            load_command(options), options.system, sampling_params(options), Overflow(options.overflow)
        )
    with EngineClient() as client:
        client.load(load_command(options), LoadProgressLine(quiet=options.json))
        stream = options.n == 1 and not options.json
        answers = client.ask(_submit(options), _print_delta if stream else _ignore_delta)
        if options.json:
            report = as_json(model_path(options), answers, client.snapshot, client.dropped)
            print(json.dumps(report, ensure_ascii=False))
        elif stream:
            print()
        else:
            _print_answers(answers)
    return 0


def _refuse_what_needs_a_prompt(options: argparse.Namespace) -> None:
    named = {"--json": options.json, "--raw": options.raw, "--n": options.n != 1}
    for name, is_given in named.items():
        if is_given:
            options.refuse(f"{name} needs --prompt TEXT")


def as_json(
    model: str, answers: list[Answer], snapshot: PoolSnapshot | None, dropped: TurnsDropped | None = None
) -> dict[str, Any]:
    """The object that `--json` prints; other programs read it: names stay, new ones may be added."""
    first = answers[0].finish
    decode_ms = max(answer.finish.timings.decode_ms for answer in answers)
    num_decoded = sum(max(0, len(answer.token_ids) - 1) for answer in answers)
    report: dict[str, Any] = {
        "model": model,
        "answers": [
            {"text": a.text, "token_ids": a.token_ids, "finish_reason": a.finish.reason.value} for a in answers
        ],
        "usage": {
            "prompt_tokens": first.usage.prompt_tokens,
            "cached_tokens": first.usage.cached_tokens,
            "completion_tokens": sum(answer.finish.usage.completion_tokens for answer in answers),
            "first_missed_index": first.usage.first_missed_index,
            "miss_reason": first.usage.miss_reason,
        },
        "timings": {
            "wait_ms": first.timings.wait_ms,
            "prefill_ms": first.timings.prefill_ms,
            "ttft_ms": first.timings.ttft_ms,
            "decode_tokens_per_s": 1000 * num_decoded / decode_ms if decode_ms else 0.0,
        },
        "dropped": {"messages": dropped.num_messages if dropped else 0, "tokens": dropped.num_tokens if dropped else 0},
    }
    if snapshot is not None:
        report["pool"] = _pool_json(snapshot)
    return report


def _pool_json(snapshot: PoolSnapshot) -> dict[str, int]:
    return {
        "block_size": snapshot.block_size,
        "num_blocks": snapshot.num_blocks,
        "peak_blocks": snapshot.peak_held_blocks,
        "shared_blocks": snapshot.peak_shared_blocks,
        "copied_blocks": snapshot.num_copied_blocks,
    }


def _submit(options: argparse.Namespace) -> Submit:
    sampling = sampling_params(options)
    if options.raw and sampling.max_tokens is None:
        sampling = replace(sampling, max_tokens=RAW_MAX_TOKENS)
    system = [Message.of(Role.SYSTEM, options.system)] if options.system else []
    return Submit(
        request_id=REQUEST_ID,
        chat_id=REQUEST_ID,
        messages=(*system, Message.of(Role.USER, options.prompt)),
        sampling=sampling,
        num_answers=options.n,
        raw=options.raw,
        origin="command line",
        overflow=Overflow(options.overflow),
    )


def _print_delta(delta: TextDelta) -> None:
    sys.stdout.write(delta.text)
    sys.stdout.flush()


def _ignore_delta(delta: TextDelta) -> None:
    """The text is printed when all answers are there."""


def _print_answers(answers: list[Answer]) -> None:
    for number, answer in enumerate(answers, start=1):
        print(f"--- {number} of {len(answers)} ---\n{answer.text}")
