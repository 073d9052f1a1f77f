"""Refuses sampling values out of range, with a sentence that says which and why. NaN is in no range.

Plain values; of the model it knows two sizes. Counts come before contents, so that a list without end costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.request import SEED_LIMIT
from pagedesk.protocol import SamplingParams

MAX_TEXTS = 64
"""Most stop strings of a request, and most sequence breakers."""
MAX_TEXT_LENGTH = 256
"""Most characters of one of them."""
MAX_BIASES = 1024
"""Most tokens of a request with a logit bias."""


@dataclass(frozen=True, slots=True)
class SamplingLimits:
    """The sizes of a model that limit a request.

    Attributes:
        vocab_size: How many tokens it has.
        max_model_len: Its longest sequence, in tokens.
    """

    vocab_size: int
    max_model_len: int


def check_sampling(params: SamplingParams, limits: SamplingLimits) -> None:
    """Look at every value.

    Raises:
        InvalidRequestError: One is out of range.
    """
    _check_numbers(params)
    _check_whole_numbers(params)
    _check_texts("stop string", params.stop)
    _check_texts("DRY sequence breaker", params.dry_sequence_breakers)
    _check_biases(params.logit_bias, limits.vocab_size)
    if params.max_tokens is not None and params.max_tokens > limits.max_model_len:
        cause = f"{params.max_tokens:,} new tokens were asked for; the whole context is {limits.max_model_len:,}."
        raise InvalidRequestError(cause, "Ask for fewer, or set no limit: the answer then ends with the context.")


def _check_numbers(params: SamplingParams) -> None:
    _check_range("temperature", params.temperature, 0.0, 100.0)
    _check_range("min-p", params.min_p, 0.0, 1.0)
    _check_share("top-p", params.top_p)
    _check_share("typical-p", params.typical_p)
    _check_range("top-n-sigma", params.top_n_sigma, 0.0, 100.0)
    _check_range("the repetition penalty", params.repetition_penalty, 0.1, 10.0)
    _check_range("the presence penalty", params.presence_penalty, -2.0, 2.0)
    _check_range("the frequency penalty", params.frequency_penalty, -2.0, 2.0)
    _check_range("the DRY multiplier", params.dry_multiplier, 0.0, 100.0)
    _check_range("the DRY base", params.dry_base, 1.0, 4.0)
    _check_range("the XTC probability", params.xtc_probability, 0.0, 1.0)
    _check_range("the XTC threshold", params.xtc_threshold, 0.0, 1.0)


def _check_whole_numbers(params: SamplingParams) -> None:
    _check_whole("top-k", params.top_k, 0)
    _check_whole("the seed", params.seed, 0, SEED_LIMIT - 1)
    _check_whole("the most new tokens", params.max_tokens, 1)
    _check_whole("the window of the penalties", params.penalty_last_n, 0)
    _check_whole("the allowed length of DRY", params.dry_allowed_length, 1)
    _check_whole("the window of DRY", params.dry_penalty_last_n, 0)


def _check_texts(name: str, texts: Collection[object]) -> None:
    _check_count(f"{name}s", len(texts), MAX_TEXTS)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise InvalidRequestError(f"A {name} is {text!r}, which is no text.", "Leave it out.")
        if len(text) > MAX_TEXT_LENGTH:
            cause = f"A {name} is {len(text):,} characters long; at most {MAX_TEXT_LENGTH} are possible."
            raise InvalidRequestError(cause, "Shorten it; its beginning is enough.")


def _check_biases(biases: tuple[tuple[int, float], ...], vocab_size: int) -> None:
    _check_count("logit biases", len(biases), MAX_BIASES)
    for token_id, bias in biases:
        _check_whole("the token of a logit bias", token_id, 0, vocab_size - 1)
        _check_range(f"the logit bias of token {token_id}", bias, -100.0, 100.0)
    if len(dict(biases)) < len(biases):
        raise InvalidRequestError("A token has two logit biases.", "Give each token one.")


def _check_count(name: str, count: int, most: int) -> None:
    if count > most:
        raise InvalidRequestError(f"{count:,} {name} were given; at most {most:,} are possible.", "Give fewer.")


def _check_share(name: str, value: float) -> None:
    _check_range(name, value, 0.0, 1.0)
    if value == 0:
        raise InvalidRequestError(f"{name} is 0, which keeps no token.", "Set it above 0; 1 switches it off.")


def _check_whole(name: str, value: float | None, low: int, high: float = math.inf) -> None:
    if value is None:
        return
    _check_range(name, value, low, high)
    if not isinstance(value, int):
        raise InvalidRequestError(f"{_capitalised(name)} is {value}; it must be a whole number.", "Correct the value.")


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        span = f"at least {low:,}" if math.isinf(high) else f"from {low:,} to {high:,}"
        raise InvalidRequestError(f"{_capitalised(name)} is {value}; it must be {span}.", "Correct the value.")


def _capitalised(name: str) -> str:
    return name[0].upper() + name[1:]
