from __future__ import annotations

from collections.abc import Callable

import pytest

from pagedesk.ui.gauge.units import count, exact_bytes, memory, milliseconds, percent


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 MB"),
        (73_728, "72 KB"),
        (9 * 1024, "9.0 KB"),
        (2 << 20, "2.0 MB"),
        (98_362_432, "94 MB"),
        (731_906_048, "698 MB"),
        (999 << 20, "999 MB"),
        (1000 << 20, "1.0 GB"),
        (5_261_334_938, "4.9 GB"),
        (10 << 30, "10.0 GB"),
        (2048 << 30, "2,048.0 GB"),
    ],
)
def test_memory_is_written_in_binary_units_with_at_most_three_figures_below_a_gigabyte(
    num_bytes: int, text: str
) -> None:
    assert memory(num_bytes) == text


def test_bytes_in_full_have_commas() -> None:
    assert exact_bytes(98_362_432) == "98,362,432 bytes"


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (737, "737"), (1400, "1,400"), (1_234_567, "1,234,567")])
def test_counts_have_a_comma_between_thousands(number: int, text: str) -> None:
    assert count(number) == text


@pytest.mark.parametrize(
    ("duration", "text"), [(0.04, "0.0 ms"), (12.84, "12.8 ms"), (99.96, "100 ms"), (1500, "1,500 ms")]
)
def test_milliseconds_lose_their_decimal_from_a_hundred_on(duration: float, text: str) -> None:
    assert milliseconds(duration) == text


@pytest.mark.parametrize(("share", "text"), [(0, "0 %"), (0.001, "1 %"), (0.91, "91 %"), (0.999, "99 %"), (1, "100 %")])
def test_a_share_is_all_or_nothing_only_if_it_is_exactly_that(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize("text", [memory, exact_bytes, count, milliseconds, percent])
def test_what_is_not_known_is_a_dash(text: Callable[[float | None], str]) -> None:
    assert text(None) == "-"
