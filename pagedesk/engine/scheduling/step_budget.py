"""How many tokens one step may compute: the one place that decides it.

Engine thread only. A fixed number today; a limit in milliseconds, from the measured speed, needs no other change.
"""

from __future__ import annotations


class StepBudget:
    """The token budget of each step.

    Args:
        max_tokens: Most tokens in one step.
    """

    def __init__(self, max_tokens: int) -> None:
        assert max_tokens > 0
        self._max_tokens = max_tokens

    def tokens(self) -> int:
        """Tokens for the next step, at least 1."""
        return self._max_tokens
