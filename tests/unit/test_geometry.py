"""Layers in groups of one size, and what a sequence costs in each."""

from __future__ import annotations

import pytest

from pagedesk.geometry import LayerGroup, ModelGeometry, block_bytes, first_block_in_window, group_layers, most_blocks

BLOCK = 4


def every_nth(num_layers: int, period: int, window: int) -> list[int | None]:
    """Windows of a model in which the last of each `period` layers looks at everything."""
    return [None if (index + 1) % period == 0 else window for index in range(num_layers)]


def geometry(windows: list[int | None]) -> ModelGeometry:
    return ModelGeometry(len(windows), 64, 128, 4, 2, 16, 300, 512, tuple(windows))


def test_layers_of_one_kind_are_one_group() -> None:
    assert group_layers([None] * 3) == (LayerGroup((0, 1, 2)),)


def test_two_kinds_in_turn_are_two_groups_and_what_looks_at_everything_comes_first() -> None:
    assert group_layers([8, None, 8, None]) == (LayerGroup((1, 3)), LayerGroup((0, 2), 8))


def test_a_larger_window_comes_before_a_smaller_one() -> None:
    assert group_layers([4, 8]) == (LayerGroup((1,), 8), LayerGroup((0,), 4))


@pytest.mark.parametrize(
    ("num_layers", "num_groups", "num_padded"), [(18, 6, 0), (26, 7, 2), (34, 7, 1), (48, 6, 0), (62, 7, 8)]
)
def test_every_gemma_3_loses_at_most_an_eighth(num_layers: int, num_groups: int, num_padded: int) -> None:
    model = geometry(every_nth(num_layers, 6, 512))
    assert (len(model.groups), model.num_padded_layers) == (num_groups, num_padded)
    assert num_padded <= (num_layers + num_padded) / 8


def test_every_layer_is_in_one_group() -> None:
    groups = group_layers(every_nth(62, 6, 512))
    assert sorted(index for group in groups for index in group.layers) == list(range(62))


def test_layers_that_look_at_everything_fill_their_groups() -> None:
    sizes = [len(group.layers) for group in group_layers(every_nth(62, 6, 512)) if group.window is None]
    assert sizes == [10]


def test_a_block_has_the_layers_of_a_group() -> None:
    one_kind, two_kinds = geometry([None] * 4), geometry([None, 8] * 2)
    assert block_bytes(one_kind, 2) == 2 * block_bytes(two_kinds, 2)


@pytest.mark.parametrize(("num_tokens", "first"), [(0, 0), (5, 0), (8, 0), (9, 1), (12, 1), (13, 2)])
def test_the_next_token_looks_back_on_its_window(num_tokens: int, first: int) -> None:
    """With a window of 6 the token at position 9 looks at positions 4 to 9."""
    assert first_block_in_window(num_tokens, 6, BLOCK) == first


@pytest.mark.parametrize("window", range(1, 14))
@pytest.mark.parametrize("chunk", range(1, 10))
def test_no_step_ever_holds_more_blocks_than_foretold(window: int, chunk: int) -> None:
    held = [-(-(start + chunk) // BLOCK) - first_block_in_window(start, window, BLOCK) for start in range(60)]
    assert max(held) == most_blocks(1000, window, chunk, BLOCK)


def test_a_short_sequence_holds_no_more_than_its_tokens() -> None:
    assert most_blocks(5, 100, 100, BLOCK) == 2
