"""Options that several commands share, and how they become commands to the engine."""

from __future__ import annotations

import argparse

from pagedesk.protocol import DType, LoadModel, SamplingParams
from pagedesk.system.errors import UserError
from pagedesk.system.starter import starter_model_path


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """`--model` and `--dtype`."""
    parser.add_argument("--model", metavar="PATH", help="a GGUF file or a model folder (default: the starter model)")
    parser.add_argument(
        "--dtype",
        choices=[dtype.value for dtype in DType],
        default=DType.AUTO.value,
        help="number format of weights and cache (default: the fastest that this machine computes in)",
    )


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """`--max-tokens`, `--temperature`, `--seed` and the filters."""
    defaults = SamplingParams()
    parser.add_argument("--max-tokens", type=int, metavar="N", help="at most so many new tokens")
    parser.add_argument("--temperature", type=float, default=defaults.temperature, metavar="X", help="0 is greedy")
    parser.add_argument("--top-k", type=int, default=defaults.top_k, metavar="K", help="0 switches it off")
    parser.add_argument("--top-p", type=float, default=defaults.top_p, metavar="P", help="1 switches it off")
    parser.add_argument("--min-p", type=float, default=defaults.min_p, metavar="P", help="0 switches it off")
    parser.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same text")


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
    return SamplingParams(
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        seed=options.seed,
        max_tokens=options.max_tokens,
    )
