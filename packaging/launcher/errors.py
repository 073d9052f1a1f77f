"""The one error of the launcher: what happened, and what to do next."""

from __future__ import annotations


class LaunchError(Exception):
    """Something that keeps PageDesk from being installed; shown to the user as it is.

    Args:
        cause: What happened, one sentence.
        advice: What to do next, one sentence.
    """

    def __init__(self, cause: str, advice: str) -> None:
        super().__init__(f"{cause}\n{advice}")
