"""The date in a prompt: still while the day lasts, and not kept for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

from pagedesk.engine.text.chat_dates import MAX_CHATS, ChatDates

MORNING = datetime(2026, 11, 29, 9, 30)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> datetime:
        return self.now


def test_a_chat_keeps_its_moment_while_the_day_lasts() -> None:
    clock = Clock()
    dates = ChatDates(clock)
    dates.of("a")
    clock.now += timedelta(hours=14)
    assert (dates.of("a"), dates.of("b")) == (MORNING, clock.now)


def test_the_next_day_is_a_new_date() -> None:
    clock = Clock()
    dates = ChatDates(clock)
    dates.of("a")
    clock.now += timedelta(hours=15)
    assert dates.of("a") == clock.now


def test_the_chats_that_were_silent_longest_are_forgotten() -> None:
    clock = Clock()
    dates = ChatDates(clock)
    dates.of("busy")
    dates.of("silent")
    clock.now += timedelta(hours=1)
    for number in range(MAX_CHATS - 1):
        dates.of(f"{number}")
        dates.of("busy")
    assert (len(dates), dates.of("busy"), dates.of("silent")) == (MAX_CHATS, MORNING, clock.now)
