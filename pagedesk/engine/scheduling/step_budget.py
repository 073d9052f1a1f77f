"""How much one step may compute: the one place that decides it.

Engine thread only. Tokens are limited by the workspace; and while answers are running, prompts get so many
milliseconds that nobody waits long for the next token of an answer, whatever another chat has pasted.
"""

from __future__ import annotations

from pagedesk.engine.batch import StepPlan
from pagedesk.engine.scheduling.step_speed import StepSpeed

MIN_PIECE = 16
"""Tokens of a prompt that are computed in any case, so that it goes on."""
_SHORT_GAP_MS = 40.0
_SMOOTH_STEPS = 4
_AIM = 0.7
"""Share of a gap that is planned: a step on a desktop often takes a third more than the one before it."""
_MIN_SHARE = 0.5


class StepBudget:
    """The budget of each step.

    Args:
        max_tokens: Most tokens in one step.
        max_gap_ms: The longest time between two tokens of an answer; None: prompts may take as long as they like.
    """

    def __init__(self, max_tokens: int, max_gap_ms: float | None) -> None:
        assert max_tokens > 0
        self._max_tokens = max_tokens
        self._max_gap_ms = max_gap_ms
        self._speed = StepSpeed()

    def open(self, *, has_answers: bool) -> Allowance:
        """The budget of the next step.

        Args:
            has_answers: Whether answers are running, whose readers wait.
        """
        ms = self._prompt_ms(self._max_gap_ms) if has_answers and self._max_gap_ms is not None else None
        return Allowance(self._max_tokens, ms, self._speed)

    def note(self, plan: StepPlan, ms: float) -> None:
        """Learn from a step that was computed."""
        self._speed.note(plan, ms)

    def longest_step_ms(self, num_tokens: int) -> float:
        """About how long the largest step takes in a sequence of so many tokens."""
        return self._speed.step_ms(self._max_tokens, num_tokens)

    def _prompt_ms(self, max_gap_ms: float) -> float:
        """For prompts, beside answers: less on a fast machine, but always half of what the answers themselves take."""
        answers_ms = self._speed.answers_ms
        gap_ms = min(max_gap_ms, max(_SMOOTH_STEPS * answers_ms, _SHORT_GAP_MS))
        return max(_AIM * gap_ms - answers_ms, _MIN_SHARE * answers_ms)


class Allowance:
    """What is left of the budget of one step.

    Args:
        num_tokens: Most tokens.
        prompt_ms: Most time for pieces of prompts; None: no limit.
        speed: What they take.
    """

    def __init__(self, num_tokens: int, prompt_ms: float | None, speed: StepSpeed) -> None:
        self._tokens_left = num_tokens
        self._prompt_ms = prompt_ms
        self._used_ms = 0.0
        self._speed = speed

    @property
    def is_spent(self) -> bool:
        """Whether no further prompt is to be served: no token is left, or so little time that a piece would be tiny."""
        is_late = self._prompt_ms is not None and self._used_ms > self._prompt_ms / 2
        return self._tokens_left == 0 or is_late

    def take_answer(self) -> bool:
        """Take the one token that an answer computes; False if none is left."""
        if self._tokens_left == 0:
            return False
        self._tokens_left -= 1
        return True

    def take_prompt(self, num_wanted: int, start: int) -> int:
        """Take a piece of a prompt, at least one token if any is left.

        Args:
            num_wanted: Tokens that are to be computed of it.
            start: How many tokens of the sequence stand before them.

        Returns:
            The length of the piece.
        """
        num_tokens = min(num_wanted, self._tokens_left)
        if self._prompt_ms is not None:
            num_tokens = self._in_time(num_tokens, start, self._prompt_ms - self._used_ms)
            self._used_ms += self._speed.prompt_ms(num_tokens, start)
        self._tokens_left -= num_tokens
        return num_tokens

    def give_back(self, num_tokens: int) -> None:
        """Some tokens are not computed after all."""
        self._tokens_left += num_tokens

    def _in_time(self, num_tokens: int, start: int, ms: float) -> int:
        """So many of these tokens as fit the time; a piece in the middle of a prompt ends where a block does."""
        num_fitting = max(self._speed.most_tokens(ms, start, num_tokens), MIN_PIECE)
        return num_tokens if num_fitting >= num_tokens else num_fitting - (start + num_fitting) % MIN_PIECE
