"""What is typed as a number is one, or the refusal says what it is not."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from pagedesk.commands.bench.numbers import positive, share, sizes


def test_sizes_are_whole_numbers_between_commas() -> None:
    assert sizes("1,4,8") == [1, 4, 8]


@pytest.mark.parametrize(
    ("kind", "text", "refusal"),
    [
        (sizes, "a,b", "'a' is not a whole number"),
        (sizes, "1,,2", "'' is not a whole number"),
        (positive, "1.5", "'1.5' is not a whole number"),
        (positive, "0", "0 is less than 1"),
        (share, "half", "'half' is not a number"),
        (share, "1.5", "1.5 is not above 0 and at most 1"),
        (share, "nan", "nan is not above 0 and at most 1"),
    ],
)
def test_what_is_no_such_number_is_refused_with_a_sentence(
    kind: Callable[[str], object], text: str, refusal: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{refusal}$"):
        kind(text)
