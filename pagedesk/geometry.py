"""The arithmetic of sizes: bytes of a cache block and of a model's parts. Stdlib only; used by engine and library."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_SIZE = 16
"""Tokens in a block (Kwon et al., SOSP 2023, figure 18b: 16 is the best size for short and long requests)."""


@dataclass(frozen=True, slots=True)
class ModelGeometry:
    """The sizes of a decoder that decide what it costs."""

    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocab_size: int
    max_model_len: int


def kv_bytes_per_token(geometry: ModelGeometry, element_bytes: int) -> int:
    """Bytes that one token takes in the cache: a key and a value for each layer and KV head."""
    per_layer = 2 * geometry.num_kv_heads * geometry.head_size * element_bytes
    return geometry.num_layers * per_layer


def block_bytes(geometry: ModelGeometry, element_bytes: int, block_size: int = BLOCK_SIZE) -> int:
    """Bytes of one block of `block_size` tokens, all layers."""
    return block_size * kv_bytes_per_token(geometry, element_bytes)


def blocks_for(num_tokens: int, block_size: int = BLOCK_SIZE) -> int:
    """Blocks that hold `num_tokens` tokens."""
    return -(-num_tokens // block_size)
