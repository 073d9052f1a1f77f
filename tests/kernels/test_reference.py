"""The torch twins against torch's own attention on contiguous tensors: what the kernels are tested against is right."""

from __future__ import annotations

import pytest
import torch

from pagedesk_kernels import reference
from tests.helpers.paged_caches import empty_layer, paged_case


@pytest.mark.parametrize("group_size", [1, 3])
def test_paged_decode_equals_torch_attention_over_contiguous_keys(group_size: int) -> None:
    case = paged_case([1, 16, 17, 50], group_size=group_size)
    attended = reference.paged_attention_decode(*case.arguments)
    for row, (keys, values) in enumerate(zip(case.keys, case.values, strict=True)):
        expected = torch.nn.functional.scaled_dot_product_attention(
            case.queries[row].unsqueeze(1), keys.transpose(0, 1), values.transpose(0, 1), enable_gqa=True
        )
        torch.testing.assert_close(attended[row], expected.squeeze(1))


def test_a_padded_row_attends_to_nothing_and_gives_zeros() -> None:
    case = paged_case([0, 5])
    attended = reference.paged_attention_decode(*case.arguments)
    assert torch.equal(attended[0], torch.zeros_like(attended[0]))


def test_stored_tokens_stand_in_their_slots_and_nowhere_else() -> None:
    key_cache, value_cache = empty_layer(num_blocks=4, block_size=16, num_kv_heads=2, head_size=8, dtype=torch.float32)
    keys, values = torch.randn(3, 2, 8), torch.randn(3, 2, 8)
    reference.store_kv(keys, values, key_cache, value_cache, torch.tensor([35, -1, 0]))
    assert torch.equal(key_cache[2, 3], keys[0])
    assert torch.equal(value_cache[0, 0], values[2])
    assert int(key_cache.isnan().all(dim=(2, 3)).sum()) == 4 * 16 - 2
