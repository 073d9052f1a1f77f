"""What goes into the prompt of a chat that has outgrown its context: its oldest turns are left out.

Engine thread only. The prompt itself decides, as the real template and encoder write it; this room knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pagedesk.protocol import Message, Role

Build = Callable[[Sequence[Message]], list[int]]
"""Makes the ids of a prompt from messages."""
_SHARE_FOR_REPLY = 4


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt and what is in it.

    Attributes:
        prompt_ids: The whole prompt.
        messages: Those that it was made of.
        num_dropped_messages: Messages of the chat that are not in it.
        num_dropped_tokens: How much longer the prompt would be with them.
    """

    prompt_ids: list[int]
    messages: Sequence[Message]
    num_dropped_messages: int = 0
    num_dropped_tokens: int = 0


def room_for_reply(context: int, max_tokens: int | None) -> int:
    """Tokens to keep free for a reply: what was asked for, at most a quarter of the context, at least one."""
    quarter = max(1, context // _SHARE_FOR_REPLY)
    return quarter if max_tokens is None else min(quarter, max_tokens)


def drop_oldest(messages: Sequence[Message], build: Build, max_prompt_tokens: int) -> FittedPrompt:
    """Leave out as many of the oldest turns as it takes, and no more.

    A turn is a question with the replies to it. System messages and the newest question stay, even if they are too
    long by themselves: whether that prompt can be computed is for others to say. A chat that fits is built once, one
    that does not once more for each halving of the number of its turns.

    Args:
        messages: The whole chat.
        build: Makes the prompt of some messages.
        max_prompt_tokens: The longest prompt that leaves room for a reply.
    """
    starts = [0, *[index for index, message in enumerate(messages) if message.role is Role.USER][1:]]
    prompts: dict[int, list[int]] = {}

    def fits(num_dropped: int) -> bool:
        if num_dropped not in prompts:
            prompts[num_dropped] = build(_without(messages, starts[num_dropped]))
        return len(prompts[num_dropped]) <= max_prompt_tokens

    num_dropped = 0 if fits(0) else _first_that(fits, 1, len(starts) - 1)
    kept, prompt_ids = _without(messages, starts[num_dropped]), prompts[num_dropped]
    return FittedPrompt(prompt_ids, kept, len(messages) - len(kept), len(prompts[0]) - len(prompt_ids))


def _without(messages: Sequence[Message], start: int) -> Sequence[Message]:
    """What begins at an index, and the system messages before it."""
    return [m for index, m in enumerate(messages) if index >= start or m.role is Role.SYSTEM]


def _first_that(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number that fits, or the largest of all; asked about the one it gives."""
    while low < high:
        middle = (low + high) // 2
        if fits(middle):
            high = middle
        else:
            low = middle + 1
    fits(high)
    return high
