"""Rotary position embedding: the angle of each pair of a head at each position.

Source: Su et al., RoFormer, arXiv 2104.09864; pairs are (i, i + head_size / 2), as transformers rotates.
"""

from __future__ import annotations

import torch

from pagedesk.engine.models.config import RopeConfig


def inverse_frequencies(rope: RopeConfig, head_size: int, factors: torch.Tensor | None) -> torch.Tensor:
    """Radians that each pair turns per position, float32 [head_size / 2].

    Args:
        rope: Base and scaling.
        head_size: Size of a head.
        factors: What a file's `rope_freqs` divides the frequencies by (Llama 3), [head_size / 2]; None for none.
    """
    exponents = torch.arange(0, head_size, 2, dtype=torch.float32) / head_size
    frequencies = 1.0 / rope.theta**exponents / rope.linear_factor
    return frequencies if factors is None else frequencies / factors.to(frequencies)


def rope_angles(
    positions: torch.Tensor, frequencies: torch.Tensor, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine at each position, each [num_tokens, 1, head_size / 2]; computed in float32.

    Args:
        positions: int64 [num_tokens].
        frequencies: float32 [head_size / 2].
        dtype: Of the result.
    """
    angles = positions.to(torch.float32)[:, None, None] * frequencies
    return angles.cos().to(dtype), angles.sin().to(dtype)
