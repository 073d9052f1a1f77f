"""The scenarios of `pagedesk bench`, by name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from pagedesk.commands.bench import candidates, chats, decode, fairness, prefix, pressure


@dataclass(frozen=True, slots=True)
class _Scenario:
    """One scenario: what it measures, its options, and what it does (the exit code)."""

    help_text: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


SCENARIOS = {
    "decode": _Scenario("prompt and decode tokens a second for several batch sizes", decode.add_arguments, decode.run),
    "chats": _Scenario(
        "many chats in little memory: blocks on demand against reservation", chats.add_arguments, chats.run
    ),
    "candidates": _Scenario(
        "several answers to one prompt against as many requests", candidates.add_arguments, candidates.run
    ),
    "prefix": _Scenario(
        "what is computed again in the next turn, after an edit, by the same answer again",
        prefix.add_arguments,
        prefix.run,
    ),
    "pressure": _Scenario(
        "four chats in memory for one and a half: all end, with the text that each gives alone",
        pressure.add_arguments,
        pressure.run,
    ),
    "fairness": _Scenario(
        "the gaps in one answer while another chat pastes a long text", fairness.add_arguments, fairness.run
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk bench`."""
    names = parser.add_subparsers(dest="scenario", required=True, metavar="SCENARIO")
    for name, scenario in SCENARIOS.items():
        scenario.add_arguments(names.add_parser(name, help=scenario.help_text, description=scenario.help_text))


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    return SCENARIOS[options.scenario].run(options)
