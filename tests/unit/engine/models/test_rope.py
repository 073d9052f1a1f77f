"""The angles of the rotary embedding against transformers' own."""

from __future__ import annotations

import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from pagedesk.engine.models.config import RopeConfig
from pagedesk.engine.models.rope import inverse_frequencies, rope_angles

POSITIONS = torch.tensor([0, 1, 17, 4095, 100_000])
HEAD_SIZE = 64
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}


def witness(**rope: object) -> LlamaRotaryEmbedding:
    config = LlamaConfig(hidden_size=HEAD_SIZE * 2, num_attention_heads=2, head_dim=HEAD_SIZE, rope_parameters=rope)
    return LlamaRotaryEmbedding(config)


def witnessed_cosines(embedding: LlamaRotaryEmbedding) -> torch.Tensor:
    cosines: torch.Tensor = embedding(torch.zeros(1), POSITIONS[None])[0]
    return cosines[0, :, : HEAD_SIZE // 2]


def test_angles_equal_those_of_transformers() -> None:
    frequencies = inverse_frequencies(RopeConfig(10000.0, 1.0), HEAD_SIZE, None)
    cosines, _ = rope_angles(POSITIONS, frequencies, torch.float32)
    expected = witnessed_cosines(witness(rope_type="default", rope_theta=10000.0))
    torch.testing.assert_close(cosines[:, 0], expected)


def test_linear_scaling_equals_that_of_transformers() -> None:
    frequencies = inverse_frequencies(RopeConfig(10000.0, 4.0), HEAD_SIZE, None)
    cosines, _ = rope_angles(POSITIONS, frequencies, torch.float32)
    expected = witnessed_cosines(witness(rope_type="linear", factor=4.0, rope_theta=10000.0))
    torch.testing.assert_close(cosines[:, 0], expected)


def test_the_factors_of_a_file_divide_the_frequencies() -> None:
    """A converter stores what turns the plain frequencies into those of Llama 3."""
    rope = RopeConfig(500000.0, 1.0)
    expected = witness(**LLAMA3).inv_freq
    factors = inverse_frequencies(rope, HEAD_SIZE, None) / expected
    assert factors.max() > 7
    torch.testing.assert_close(inverse_frequencies(rope, HEAD_SIZE, factors), expected)


def test_sines_and_cosines_get_the_wanted_format() -> None:
    frequencies = inverse_frequencies(RopeConfig(10000.0, 1.0), HEAD_SIZE, None)
    cosines, sines = rope_angles(POSITIONS, frequencies, torch.bfloat16)
    assert cosines.dtype == sines.dtype == torch.bfloat16
