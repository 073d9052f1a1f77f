"""How much memory the largest step takes besides weights and cache. Plain arithmetic, any thread."""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.geometry import ModelGeometry

_FLOAT_BYTES = 4
_MIN_GATHERED_TOKENS = 16384
SAMPLER_BYTES_PER_SCORE = 60
"""What ranking and filtering take for each score, at most; a test measures it."""
SAMPLED_ROWS_AT_A_TIME = 8
"""Rows whose whole vocabulary is ranked at a time."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """The largest step.

    Attributes:
        max_batch_tokens: Tokens that it computes.
        max_num_sequences: Sequences that it serves.
        element_bytes: Bytes of an activation.
    """

    max_batch_tokens: int
    max_num_sequences: int
    element_bytes: int


def max_gathered_tokens(geometry: ModelGeometry) -> int:
    """How many cached tokens a house without kernels gathers at a time: the longest sequence, or several short ones."""
    return max(geometry.max_model_len, _MIN_GATHERED_TOKENS)


def workspace_bytes(geometry: ModelGeometry, limits: StepLimits) -> int:
    """Bytes of activations, attention scratch and logits of the largest step."""
    return _activation_bytes(geometry, limits) + _attention_bytes(geometry, limits) + _logits_bytes(geometry, limits)


def _activation_bytes(geometry: ModelGeometry, limits: StepLimits) -> int:
    """Residual, normed, result, one temporary; beside them a layer's heads or its feed-forward, the larger of both."""
    num_heads = geometry.num_heads + 2 * geometry.num_kv_heads
    heads = (3 * num_heads + geometry.num_heads) * geometry.head_size
    feed_forward = 3 * geometry.intermediate_size
    per_token = 4 * geometry.hidden_size + max(heads, feed_forward)
    return limits.max_batch_tokens * per_token * limits.element_bytes


def _attention_bytes(geometry: ModelGeometry, limits: StepLimits) -> int:
    """Keys and values gathered in order, a chunk's mask as truth values and as numbers, and scores to be capped.

    Of those there are, for the query heads of one KV head: products, the same in float32, shares, the same rounded.
    """
    per_token = 2 * geometry.num_kv_heads * geometry.head_size * limits.element_bytes
    pairs = limits.max_batch_tokens * geometry.max_model_len
    mask = pairs * (1 + limits.element_bytes)
    scores = pairs * geometry.num_heads // geometry.num_kv_heads * 2 * (_FLOAT_BYTES + limits.element_bytes)
    return max_gathered_tokens(geometry) * per_token + mask + (scores if geometry.caps_scores else 0)


def _logits_bytes(geometry: ModelGeometry, limits: StepLimits) -> int:
    """Scores in the model's format and in float32, and what ranking some rows takes."""
    scores = limits.max_num_sequences * geometry.vocab_size
    ranked = SAMPLED_ROWS_AT_A_TIME * geometry.vocab_size
    return scores * (limits.element_bytes + _FLOAT_BYTES) + ranked * SAMPLER_BYTES_PER_SCORE
