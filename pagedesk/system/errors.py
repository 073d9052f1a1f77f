"""The root of every error that a person may read: what happened, and what to do next."""

from __future__ import annotations


class UserError(Exception):
    """An error with a sentence for the user and a next step.

    Attributes:
        cause: What happened and why, one sentence, with the numbers that matter.
        advice: What to do next, one sentence.
    """

    def __init__(self, cause: str, advice: str) -> None:
        super().__init__(f"{cause} {advice}")
        self.cause = cause
        self.advice = advice
