"""The lengths of the chats of `bench chats`."""

from __future__ import annotations

from statistics import mean

import pytest

from pagedesk.commands.bench.trace import MAX_TOKENS, MEAN_NEW_TOKENS, MEAN_PROMPT_TOKENS, sharegpt_like


@pytest.mark.parametrize("num_chats", [64, 200])
def test_the_means_are_those_of_the_paper(num_chats: int) -> None:
    chats = sharegpt_like(num_chats, 1.0, seed=1)
    assert mean(chat.prompt_tokens for chat in chats) == pytest.approx(MEAN_PROMPT_TOKENS, rel=0.03)
    assert mean(chat.new_tokens for chat in chats) == pytest.approx(MEAN_NEW_TOKENS, rel=0.03)


@pytest.mark.parametrize("scale", [1.0, 0.25, 0.01])
def test_no_chat_is_longer_than_the_longest_sequence(scale: float) -> None:
    longest = round(scale * MAX_TOKENS)
    chats = sharegpt_like(100, scale, seed=1)
    assert all(chat.prompt_tokens + chat.new_tokens <= longest for chat in chats)
    assert all(chat.prompt_tokens >= 1 and chat.new_tokens >= 1 for chat in chats)


def test_a_seed_gives_the_same_chats_and_another_another_order() -> None:
    assert sharegpt_like(20, 1.0, seed=1) == sharegpt_like(20, 1.0, seed=1)
    assert sharegpt_like(20, 1.0, seed=1) != sharegpt_like(20, 1.0, seed=2)


def test_a_few_long_chats_stand_among_many_short_ones() -> None:
    lengths = sorted(chat.new_tokens for chat in sharegpt_like(64, 1.0, seed=1))
    assert lengths[32] < mean(lengths) < lengths[-1] / 4
