"""How long steps take on this machine: learnt from those that were measured.

Engine thread only; the clock is the caller's. Two kinds of work are told apart: what every step costs that gives each
running answer one token, and what a piece of a prompt adds to it. The second grows with the place of the piece in
its prompt, because every token looks at all before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from statistics import median

from pagedesk.engine.batch import SequenceSlice, StepPlan

_NUM_REMEMBERED = 15
_RATE = 0.25
"""Share of an error that is made good at once: four odd steps are forgotten, a change is followed in ten."""
_LEAST_MS = 1.0
_TOKENS, _DEPTH = 64, 1024
_FIRST_GUESS = (64.0, 32.0, 4.0)
"""Milliseconds for each of `_features`: a slow computer, so that the first piece of the first prompt is small."""

_Features = tuple[float, float, float]


class StepSpeed:
    """Milliseconds of a step, estimated.

    Steps of answers alone: the median of the newest. Pieces of prompts: a sum over tokens, pairs of tokens that look
    at each other, and cached tokens that are read; its three weights follow the measurements by normalised least mean
    squares (Widrow and Hoff, 1960). A step that took more than twice its estimate counts as twice: one hiccup of the
    machine changes little.
    """

    def __init__(self) -> None:
        self._answer_steps: deque[float] = deque(maxlen=_NUM_REMEMBERED)
        self._weights = _FIRST_GUESS
        self._num_prompt_steps = 0

    @property
    def answers_ms(self) -> float:
        """A step that computes no piece of a prompt; 0 before there was one."""
        return median(self._answer_steps) if self._answer_steps else 0.0

    def prompt_ms(self, num_tokens: int, start: int) -> float:
        """What a piece of a prompt adds to a step.

        Args:
            num_tokens: Its length.
            start: How many tokens of the sequence stand before it.
        """
        return _weighted(self._weights, _features(num_tokens, start))

    def step_ms(self, num_tokens: int, start: int) -> float:
        """A whole step with one piece of a prompt."""
        return self.answers_ms + self.prompt_ms(num_tokens, start)

    def most_tokens(self, ms: float, start: int, limit: int) -> int:
        """The longest piece from `start` on that adds at most `ms`, 0 to `limit` tokens."""
        return bisect_right(range(1, limit + 1), ms, key=lambda num_tokens: self.prompt_ms(num_tokens, start))

    def note(self, plan: StepPlan, ms: float) -> None:
        """Learn from a step that was computed."""
        pieces = [part for part in plan.slices if is_prompt_piece(part)]
        if pieces:
            self._learn(_sum(_features(len(part.token_ids), part.start_position) for part in pieces), ms)
        elif plan.slices:
            self._answer_steps.append(ms)

    def _learn(self, features: _Features, step_ms: float) -> None:
        ms = max(step_ms - self.answers_ms, 0.0)
        estimate = _weighted(self._weights, features)
        self._num_prompt_steps += 1
        if self._num_prompt_steps == 1:
            return  # The first step of a model takes long: code is loaded, or compiled.
        if self._num_prompt_steps == 2:
            self._weights = _triple(weight * ms / estimate for weight in self._weights)
            return
        error = min(ms - estimate, max(estimate, _LEAST_MS))
        correction = _RATE * error / _weighted(features, features)
        moved = (weight + correction * feature for weight, feature in zip(self._weights, features, strict=True))
        self._weights = _triple(max(weight, 0.0) for weight in moved)


def is_prompt_piece(part: SequenceSlice) -> bool:
    """Whether it is more than the one token that an answer computes in a step."""
    return len(part.token_ids) > 1


def _features(num_tokens: int, start: int) -> _Features:
    """Tokens, pairs and cached tokens, each about 1 for a small piece in a long prompt."""
    pairs = num_tokens * (start + num_tokens / 2)
    return num_tokens / _TOKENS, pairs / (_TOKENS * _DEPTH), (start + num_tokens) / _DEPTH


def _weighted(weights: _Features, features: _Features) -> float:
    return sum(weight * feature for weight, feature in zip(weights, features, strict=True))


def _sum(features: Iterable[_Features]) -> _Features:
    return _triple(sum(column) for column in zip(*features, strict=True))


def _triple(values: Iterable[float]) -> _Features:
    first, second, third = values
    return first, second, third
