"""Refuses requests with values out of range, with a sentence that says which and why."""

from __future__ import annotations

import math

from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.request import SEED_LIMIT
from pagedesk.protocol import Role, SamplingParams, Submit

MAX_TEMPERATURE = 100.0


def check_submit(submit: Submit, max_answers: int) -> None:
    """Look at everything that can be judged without the model.

    Raises:
        InvalidRequestError: A value is out of range, nothing is asked, or something that is not supported is.
    """
    _check_messages(submit)
    check_sampling(submit.sampling)
    if not 1 <= submit.num_answers <= max_answers:
        cause = f"{submit.num_answers:,} answers were asked for; 1 to {max_answers:,} are possible."
        raise InvalidRequestError(cause, "Ask for fewer answers." if submit.num_answers > 1 else "Ask for one answer.")
    if submit.constraint is not None:
        cause = f"The reply was to follow a constraint of the kind {submit.constraint.kind!r}; none is supported yet."
        raise InvalidRequestError(cause, "Send the request without a constraint.")


def check_sampling(params: SamplingParams) -> None:
    """Look at the sampling values; NaN is in no range.

    Raises:
        InvalidRequestError: One is out of range.
    """
    _check_range("temperature", params.temperature, 0.0, MAX_TEMPERATURE)
    _check_range("min-p", params.min_p, 0.0, 1.0)
    _check_range("top-p", params.top_p, 0.0, 1.0)
    if params.top_p == 0:
        raise InvalidRequestError("top-p is 0, which keeps no token.", "Set it above 0; 1 switches it off.")
    _check_range("top-k", params.top_k, 0, math.inf)
    if params.seed is not None:
        _check_range("the seed", params.seed, 0, SEED_LIMIT - 1)
    if params.max_tokens is not None:
        _check_range("the most new tokens", params.max_tokens, 1, math.inf)


def _check_messages(submit: Submit) -> None:
    if not submit.messages:
        raise InvalidRequestError("There is no message to answer.", "Write something first.")
    newest = submit.messages[-1]
    is_blank = not (newest.text or newest.token_ids) if submit.raw else not newest.text.strip()
    if is_blank and newest.role is not Role.ASSISTANT:
        raise InvalidRequestError("The message is empty.", "Write something first.")


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        span = f"at least {low:,}" if math.isinf(high) else f"from {low:,} to {high:,}"
        raise InvalidRequestError(f"{name.capitalize()} is {value}; it must be {span}.", "Correct the value.")
