"""Products of 16-bit numbers have few different heights, and the same results."""

from __future__ import annotations

import pytest
import torch

from pagedesk.engine.backends.base import LinearWeight
from pagedesk.engine.backends.reference import ReferenceBackend
from pagedesk.engine.backends.row_padding import pad_rows, padded_height

MAX_ROWS = 256


def test_there_are_few_heights_and_none_is_much_higher_than_asked() -> None:
    heights = {rows: padded_height(rows) for rows in range(MAX_ROWS + 1)}
    assert len(set(heights.values())) <= 24
    assert all(rows <= height <= rows + max(7, rows // 2) for rows, height in heights.items())
    assert heights[MAX_ROWS] == MAX_ROWS


@pytest.mark.parametrize("num_rows", [0, 1, 9, 65])
def test_a_product_has_the_rows_that_it_was_given(num_rows: int) -> None:
    torch.manual_seed(0)
    inputs, matrix = torch.randn(num_rows, 32).bfloat16(), torch.randn(48, 32).bfloat16()
    product = ReferenceBackend(16, max_gathered_tokens=64).linear(
        inputs, LinearWeight(matrix, torch.ones(48).bfloat16())
    )
    torch.testing.assert_close(product.float(), inputs.float() @ matrix.float().T + 1, atol=0.1, rtol=0.02)


def test_numbers_of_32_bits_are_not_padded() -> None:
    inputs = torch.randn(9, 32)
    assert pad_rows(inputs) is inputs
