"""The chats of `bench chats`: how long their prompts and answers are."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import NormalDist

MEAN_PROMPT_TOKENS = 161
MEAN_NEW_TOKENS = 338
"""Of ShareGPT, as Kwon et al. used it (SOSP 2023, section 6.1, figure 11)."""
MAX_TOKENS = 2048
_PROMPT_SPREAD, _ANSWER_SPREAD = 1.0, 0.9
"""Standard deviations of the logarithms: a few long ones among many short ones, as the figure shows."""
_MIN_TOKENS = 2


@dataclass(frozen=True, slots=True)
class TracedChat:
    """One chat: tokens of its prompt and of its answer."""

    prompt_tokens: int
    new_tokens: int


def sharegpt_like(num_chats: int, scale: float, seed: int) -> list[TracedChat]:
    """Chats with log-normal lengths of the paper's means, times `scale`.

    The lengths are the middles of `num_chats` equal shares of the distribution in an order drawn from the seed, so that
    any number of chats has about the same mean. An answer ends where the longest sequence does.
    """
    draw = random.Random(seed)  # noqa: S311 - an order, not a secret
    max_tokens = max(round(scale * MAX_TOKENS), 2 * _MIN_TOKENS)
    prompts = _lengths(scale * MEAN_PROMPT_TOKENS, _PROMPT_SPREAD, num_chats)
    answers = _lengths(scale * MEAN_NEW_TOKENS, _ANSWER_SPREAD, num_chats)
    draw.shuffle(prompts)
    draw.shuffle(answers)
    kept = [min(prompt, max_tokens - _MIN_TOKENS) for prompt in prompts]
    return [TracedChat(prompt, min(answer, max_tokens - prompt)) for prompt, answer in zip(kept, answers, strict=True)]


def _lengths(mean: float, spread: float, count: int) -> list[int]:
    middle = math.log(mean) - spread**2 / 2
    logs = NormalDist(middle, spread)
    return [max(round(math.exp(logs.inv_cdf((index + 0.5) / count))), _MIN_TOKENS) for index in range(count)]
