import pytest

from pagedesk.ui.chat.rate import TokenRate


def test_nothing_is_told_of_a_single_arrival():
    rate = TokenRate()
    rate.note(3, 10.0)
    assert rate.tokens_per_s == 0


def test_the_tokens_after_the_first_arrival_are_divided_by_the_time_since_it():
    rate = TokenRate()
    for second in (0.0, 0.5, 1.0):
        rate.note(10, second)
    assert rate.tokens_per_s == 20


def test_only_the_newest_two_seconds_count():
    rate = TokenRate()
    rate.note(1000, 0.0)
    for second in (10.0, 11.0, 12.0):
        rate.note(5, second)
    assert rate.tokens_per_s == pytest.approx(5)
