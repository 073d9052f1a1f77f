"""The exact house against the plainest formulas: one query, one head, one place at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from pagedesk.engine.backends.activation import Activation
from pagedesk.engine.backends.base import LinearWeight
from pagedesk.engine.backends.packing import pack_slices
from pagedesk.engine.backends.reference import ReferenceBackend
from pagedesk.engine.batch import SequenceSlice, TablePart

BLOCK_SIZE, NUM_BLOCKS, NUM_HEADS, NUM_KV_HEADS, HEAD_SIZE = 4, 23, 6, 2, 8
SCALE = 0.3
BACKEND = ReferenceBackend(BLOCK_SIZE, max_gathered_tokens=1000)
# (tokens already in the cache, new tokens, block table): decodes, a prompt from the start, a chunk after a prefix.
SEQUENCES = (
    (12, 1, (7, 3, 19, 1)),
    (0, 9, (22, 0, 5)),
    (2, 1, (11,)),
    (6, 7, (4, 18, 2, 9)),
    (0, 1, (13,)),
)


def slices() -> list[SequenceSlice]:
    return [
        SequenceSlice(index, tuple(range(new)), start, (TablePart(blocks),), None)
        for index, (start, new, blocks) in enumerate(SEQUENCES)
    ]


def caches() -> tuple[torch.Tensor, torch.Tensor]:
    """A layer's part of a block-major cache, poisoned where nothing was stored."""
    torch.manual_seed(0)
    cache = torch.full((NUM_BLOCKS, 3, 2, BLOCK_SIZE, NUM_KV_HEADS, HEAD_SIZE), 1e4)
    key_cache, value_cache = cache[:, 1].unbind(1)
    for start, _, blocks in SEQUENCES:
        for place in range(start):
            for layer_cache in (key_cache, value_cache):
                layer_cache[blocks[place // BLOCK_SIZE], place % BLOCK_SIZE] = torch.randn(NUM_KV_HEADS, HEAD_SIZE)
    return key_cache, value_cache


def new_tokens(num_heads: int) -> torch.Tensor:
    return torch.randn(sum(new for _, new, _ in SEQUENCES), num_heads, HEAD_SIZE)


def read(cache: torch.Tensor, blocks: tuple[int, ...], num_tokens: int) -> torch.Tensor:
    places = [(blocks[place // BLOCK_SIZE], place % BLOCK_SIZE) for place in range(num_tokens)]
    return torch.stack([cache[block, offset] for block, offset in places])


def plain_attention(
    queries: torch.Tensor,
    pieces: tuple[SequenceSlice, ...],
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    *,
    window: int = 1000,
    softcap: float | None = None,
) -> torch.Tensor:
    def capped(scores: torch.Tensor) -> torch.Tensor:
        return scores if softcap is None else softcap * (scores / softcap).tanh()

    rows = []
    for piece in pieces:
        for position in range(piece.start_position, piece.start_position + len(piece.token_ids)):
            keys = read(key_cache, piece.tables[0].block_ids, position + 1)[-window:]
            values = read(value_cache, piece.tables[0].block_ids, position + 1)[-window:]
            query = queries[len(rows)]
            group = NUM_HEADS // NUM_KV_HEADS
            heads = [
                capped(keys[:, head // group] @ query[head] * SCALE).softmax(0) @ values[:, head // group]
                for head in range(NUM_HEADS)
            ]
            rows.append(torch.stack(heads))
    return torch.stack(rows)


@pytest.mark.parametrize("max_gathered_tokens", [1, 20, 1000])
def test_attention_over_scattered_blocks_equals_the_plain_formula(max_gathered_tokens: int) -> None:
    key_cache, value_cache = caches()
    step = pack_slices(slices(), BLOCK_SIZE, torch.device("cpu"))
    keys, values, queries = new_tokens(NUM_KV_HEADS), new_tokens(NUM_KV_HEADS), new_tokens(NUM_HEADS)
    attention = ReferenceBackend(BLOCK_SIZE, max_gathered_tokens).plan_attention(step.batches[0], SCALE)
    attention.store(keys, values, key_cache, value_cache)
    attended = attention.attend(queries, key_cache, value_cache)
    torch.testing.assert_close(attended, plain_attention(queries, step.slices, key_cache, value_cache))


@pytest.mark.parametrize("softcap", [None, 0.5])
@pytest.mark.parametrize("window", [1, 3, 4, 5, 9, 50])
def test_a_query_looks_back_on_its_window_and_its_scores_are_capped(window: int, softcap: float | None) -> None:
    key_cache, value_cache = caches()
    step = pack_slices(slices(), BLOCK_SIZE, torch.device("cpu"), (window,))
    keys, values, queries = new_tokens(NUM_KV_HEADS), new_tokens(NUM_KV_HEADS), new_tokens(NUM_HEADS)
    attention = ReferenceBackend(BLOCK_SIZE, 20).plan_attention(step.batches[0], SCALE, softcap)
    attention.store(keys, values, key_cache, value_cache)
    attended = attention.attend(queries, key_cache, value_cache)
    expected = plain_attention(queries, step.slices, key_cache, value_cache, window=window, softcap=softcap)
    torch.testing.assert_close(attended, expected)


def test_a_table_may_begin_where_the_window_does() -> None:
    key_cache, value_cache = caches()
    queries, keys = torch.randn(1, NUM_HEADS, HEAD_SIZE), torch.ones(1, NUM_KV_HEADS, HEAD_SIZE)
    attended = []
    for table in (TablePart((7, 3, 19, 1)), TablePart((19, 1), first_index=2)):
        step = pack_slices([SequenceSlice(0, (1,), 12, (table,), None)], BLOCK_SIZE, torch.device("cpu"), (4,))
        attention = BACKEND.plan_attention(step.batches[0], SCALE)
        attention.store(keys, keys, key_cache, value_cache)
        attended.append(attention.attend(queries, key_cache, value_cache))
    torch.testing.assert_close(attended[0], attended[1])


def test_keys_and_values_go_to_their_slots_and_nowhere_else() -> None:
    key_cache, value_cache = caches()
    before = key_cache.clone()
    step = pack_slices(slices(), BLOCK_SIZE, torch.device("cpu"))
    keys = new_tokens(NUM_KV_HEADS)
    BACKEND.plan_attention(step.batches[0], SCALE).store(keys, keys, key_cache, value_cache)
    row = 0
    for piece in step.slices:
        for position in range(piece.start_position, piece.start_position + len(piece.token_ids)):
            before[piece.tables[0].block_ids[position // BLOCK_SIZE], position % BLOCK_SIZE] = keys[row]
            row += 1
    assert torch.equal(key_cache, before)


def test_a_padded_row_is_stored_nowhere() -> None:
    key_cache, value_cache = caches()
    before = key_cache.clone()
    step = pack_slices([SequenceSlice(0, (1,), 0, (TablePart((5,)),), None)], BLOCK_SIZE, torch.device("cpu"))
    batch = replace(step.batches[0], slot_mapping=torch.tensor([-1]))
    rows = torch.ones(1, NUM_KV_HEADS, HEAD_SIZE)
    BACKEND.plan_attention(batch, SCALE).store(rows, rows, key_cache, value_cache)
    assert torch.equal(key_cache, before)


def test_rms_norm_divides_by_the_root_mean_square() -> None:
    inputs, weight = torch.randn(3, 16), torch.randn(16)
    expected = inputs / (inputs.pow(2).mean(1, keepdim=True) + 1e-5).sqrt() * weight
    torch.testing.assert_close(BACKEND.rms_norm(inputs, weight, 1e-5), expected)


def test_the_residual_is_added_before_the_norm() -> None:
    inputs, residual, weight = torch.randn(3, 16), torch.randn(3, 16), torch.randn(16)
    total = inputs + residual
    normed, summed = BACKEND.add_rms_norm(inputs, residual, weight, 1e-5)
    torch.testing.assert_close(summed, total)
    torch.testing.assert_close(normed, BACKEND.rms_norm(total, weight, 1e-5))


def test_rope_turns_each_pair_as_a_complex_number() -> None:
    heads, angles = torch.randn(5, 3, 8), torch.randn(5, 1, 4)
    turned = torch.complex(heads[..., :4], heads[..., 4:]) * torch.polar(torch.ones_like(angles), angles)
    expected = torch.cat((turned.real, turned.imag), dim=-1)
    torch.testing.assert_close(BACKEND.rope(heads.clone(), angles.cos(), angles.sin()), expected)


def test_the_gate_is_the_first_half() -> None:
    gate, up = torch.randn(3, 8), torch.randn(3, 8)
    expected = gate * torch.sigmoid(gate) * up
    torch.testing.assert_close(BACKEND.gated_activation(torch.cat((gate, up), dim=1), Activation.SILU), expected)


def test_the_other_gate_is_the_share_of_a_normal_distribution_below() -> None:
    gate, up = torch.randn(3, 8), torch.randn(3, 8)
    expected = gate * (1 + torch.erf(gate / 2**0.5)) / 2 * up
    computed = BACKEND.gated_activation(torch.cat((gate, up), dim=1), Activation.GELU_TANH)
    torch.testing.assert_close(computed, expected, rtol=0, atol=2e-3)


def test_a_linear_adds_its_bias() -> None:
    inputs, matrix, bias = torch.randn(2, 4), torch.randn(3, 4), torch.randn(3)
    torch.testing.assert_close(BACKEND.linear(inputs, LinearWeight(matrix, bias)), inputs @ matrix.T + bias)
