"""Options that several commands share, and how they become commands to the engine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from pagedesk.protocol import DType, LoadModel, Overflow, SamplingParams
from pagedesk.system.errors import UserError
from pagedesk.system.starter import starter_model_path
from pagedesk.ui.options import model_path as named_path


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """`--model` and `--dtype`."""
    add_model_path(parser)
    parser.add_argument(
        "--dtype",
        choices=[dtype.value for dtype in DType],
        default=DType.AUTO.value,
        help="number format of weights and cache (default: the fastest that this machine computes in)",
    )


def add_model_path(parser: argparse.ArgumentParser) -> None:
    """`--model` alone."""
    parser.add_argument(
        "--model", type=named_path, metavar="PATH", help="a GGUF file or a model folder (default: the starter model)"
    )


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """`--max-tokens`, `--stop`, `--seed`, and how the next token is chosen."""
    defaults = SamplingParams()
    group = parser.add_argument_group("choice of the next token, in the order in which they apply")
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="at most so many new tokens (default: until the model ends or its context is full)",
    )
    parser.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end the answer before this text; may be repeated"
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="the same seed gives the same text (default: another one each time)"
    )
    group.add_argument(
        "--logit-bias",
        type=_bias,
        action="append",
        default=[],
        metavar="ID=X",
        help="add X to the score of a token, -100 forbids it; may be repeated",
    )
    _add_penalty_options(group, defaults)
    _add_dry_options(group, defaults)
    numbers = (
        ("--top-n-sigma", float, "N", "0 switches it off"),
        ("--top-k", int, "K", "0 switches it off"),
        ("--typical-p", float, "P", "1 switches it off"),
        ("--top-p", float, "P", "1 switches it off"),
        ("--min-p", float, "P", "0 switches it off"),
        ("--xtc-probability", float, "P", "0 switches it off"),
        ("--xtc-threshold", float, "P", "the probability of a top choice"),
        ("--temperature", float, "X", "0 is greedy"),
    )
    _add_numbers(group, defaults, numbers)


def _add_penalty_options(group: argparse._ArgumentGroup, defaults: SamplingParams) -> None:
    numbers = (
        ("--repetition-penalty", float, "X", "1 switches it off"),
        ("--presence-penalty", float, "X", "0 switches it off"),
        ("--frequency-penalty", float, "X", "0 switches it off"),
    )
    _add_numbers(group, defaults, numbers)
    _add_window(group, "--penalty-last-n", defaults.penalty_last_n, "tokens that these penalties look at")


def _add_dry_options(group: argparse._ArgumentGroup, defaults: SamplingParams) -> None:
    numbers = (
        ("--dry-multiplier", float, "X", "0 switches it off"),
        ("--dry-base", float, "X", "how the penalty grows with the run"),
        ("--dry-allowed-length", int, "N", "shorter runs may be repeated"),
    )
    _add_numbers(group, defaults, numbers)
    _add_window(group, "--dry-penalty-last-n", defaults.dry_penalty_last_n, "tokens that DRY looks at")
    group.add_argument(
        "--dry-sequence-breaker",
        action="append",
        metavar="TEXT",
        help="no run reaches across this text; may be repeated (default: line break, colon, quote, asterisk)",
    )


def add_overflow_option(parser: argparse.ArgumentParser) -> None:
    """`--overflow`."""
    parser.add_argument(
        "--overflow",
        choices=[overflow.value for overflow in Overflow],
        default=Overflow.STOP.value,
        help="if the chat outgrows the context: refuse, or leave out the oldest turns (default: stop)",
    )


def model_path(options: argparse.Namespace) -> str:
    """The model that was asked for, or the starter model.

    Raises:
        UserError: no model was named and the starter model is not installed.
    """
    if options.model is not None:
        return str(options.model)
    starter = starter_model_path()
    if starter is None:
        raise UserError(
            "No model was named and the starter model is not installed.",
            "Name a GGUF file with --model PATH, or run packaging/launch.py once to install the starter model.",
        )
    return str(starter)


def load_command(options: argparse.Namespace) -> LoadModel:
    """What `--model` and `--dtype` ask of the engine."""
    return LoadModel(model_path(options), dtype=DType(options.dtype))


def sampling_params(options: argparse.Namespace) -> SamplingParams:
    """What the sampling options ask of the engine."""
    defaults = SamplingParams()
    breakers = options.dry_sequence_breaker
    return SamplingParams(
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        seed=options.seed,
        max_tokens=options.max_tokens,
        repetition_penalty=options.repetition_penalty,
        presence_penalty=options.presence_penalty,
        frequency_penalty=options.frequency_penalty,
        penalty_last_n=options.penalty_last_n,
        dry_multiplier=options.dry_multiplier,
        dry_base=options.dry_base,
        dry_allowed_length=options.dry_allowed_length,
        dry_penalty_last_n=options.dry_penalty_last_n,
        dry_sequence_breakers=defaults.dry_sequence_breakers if breakers is None else tuple(breakers),
        top_n_sigma=options.top_n_sigma,
        typical_p=options.typical_p,
        xtc_probability=options.xtc_probability,
        xtc_threshold=options.xtc_threshold,
        logit_bias=tuple(options.logit_bias),
        stop=tuple(options.stop),
    )


_Number = tuple[str, Callable[[str], float], str, str]


def _add_numbers(group: argparse._ArgumentGroup, defaults: SamplingParams, numbers: Iterable[_Number]) -> None:
    """Options with the name of a field and its default, which the help shows."""
    for option, kind, metavar, text in numbers:
        default = getattr(defaults, option.removeprefix("--").replace("-", "_"))
        group.add_argument(option, type=kind, default=default, metavar=metavar, help=f"{text} (default: {default})")


def _add_window(group: argparse._ArgumentGroup, option: str, default: int | None, text: str) -> None:
    shown = "all" if default is None else default
    help_text = f"so many of the last {text}, or 'all' (default: {shown})"
    group.add_argument(option, type=_window, default=default, metavar="N", help=help_text)


def _window(text: str) -> int | None:
    try:
        return None if text == "all" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of tokens nor 'all'") from None


def _bias(text: str) -> tuple[int, float]:
    token_id, _, bias = text.partition("=")
    try:
        return int(token_id), float(bias)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a token id, an equals sign and a number") from None
