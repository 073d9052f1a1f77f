"""Refuses requests with values out of range, with a sentence that says which and why."""

from __future__ import annotations

from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.scheduling.sampling_check import SamplingLimits, check_sampling
from pagedesk.protocol import Role, Submit


def check_submit(submit: Submit, max_answers: int, limits: SamplingLimits) -> None:
    """Look at everything that can be judged before the prompt is built.

    Args:
        submit: What is asked.
        max_answers: How many answers one request may have.
        limits: What the model allows.

    Raises:
        InvalidRequestError: A value is out of range, nothing is asked, or something that is not supported is.
    """
    check_num_answers(submit.num_answers, max_answers)
    _check_messages(submit)
    check_sampling(submit.sampling, limits)
    if submit.constraint is not None:
        cause = f"The reply was to follow a constraint of the kind {submit.constraint.kind!r}; none is supported yet."
        raise InvalidRequestError(cause, "Send the request without a constraint.")


def check_num_answers(num_answers: int, max_answers: int) -> None:
    """Look at the number of answers before anything is made for each of them.

    Raises:
        InvalidRequestError: It is out of range.
    """
    if not 1 <= num_answers <= max_answers:
        cause = f"{num_answers:,} answers were asked for; 1 to {max_answers:,} are possible."
        raise InvalidRequestError(cause, "Ask for fewer answers." if num_answers > 1 else "Ask for one answer.")


def _check_messages(submit: Submit) -> None:
    if not submit.messages:
        raise InvalidRequestError("There is no message to answer.", "Write something first.")
    newest = submit.messages[-1]
    is_blank = not (newest.text or newest.token_ids) if submit.raw else not newest.text.strip()
    if is_blank and newest.role is not Role.ASSISTANT:
        raise InvalidRequestError("The message is empty.", "Write something first.")
