"""Builds a decoder's weights from the tensors of a file: which name is which, what is fused, what is reordered.

Engine thread. Knows tensor names; the bytes are the reader's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from pagedesk.engine.backends.base import LinearWeight
from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.models.config import DecoderConfig
from pagedesk.engine.models.decoder import DecoderWeights, LayerWeights
from pagedesk.engine.models.registry import Architecture
from pagedesk.engine.models.rope import inverse_frequencies
from pagedesk.engine.weights.reader import RowOrder, WeightReader

_ROPE_FACTORS = "rope_freqs.weight"


def assemble_weights(architecture: Architecture, config: DecoderConfig, reader: WeightReader) -> DecoderWeights:
    """Read every tensor of the model.

    Raises:
        ModelFileError: A tensor is missing or has another shape, or the file holds one that would go unused.
    """
    embedding = reader.matrix([("token_embd.weight", config.vocab_size)], config.hidden_size)
    frequencies = _read_rope(config, reader)
    layers = tuple(_read_layer(f"blk.{index}", architecture, config, reader) for index in range(config.num_layers))
    weights = DecoderWeights(
        embedding=embedding,
        layers=layers,
        output_norm=reader.vector("output_norm.weight", config.hidden_size),
        head=_read_head(config, reader, embedding),
        rope_frequencies=frequencies,
        window_rope_frequencies=_window_frequencies(config, frequencies),
    )
    _refuse_unread(reader)
    return weights


def _read_head(config: DecoderConfig, reader: WeightReader, embedding: torch.Tensor) -> LinearWeight:
    if reader.has("output.weight"):
        return LinearWeight(reader.matrix([("output.weight", config.vocab_size)], config.hidden_size))
    return LinearWeight(embedding)


def _read_rope(config: DecoderConfig, reader: WeightReader) -> torch.Tensor:
    factors: torch.Tensor | None = None
    if reader.has(_ROPE_FACTORS):
        factors = reader.vector(_ROPE_FACTORS, config.head_size // 2, torch.float32).cpu()
    return inverse_frequencies(config.rope, config.head_size, factors).to(reader.device)


def _window_frequencies(config: DecoderConfig, frequencies: torch.Tensor) -> torch.Tensor:
    if config.window_rope == config.rope:
        return frequencies
    return inverse_frequencies(config.window_rope, config.head_size, None).to(frequencies.device)


def _read_layer(prefix: str, architecture: Architecture, config: DecoderConfig, reader: WeightReader) -> LayerWeights:
    hidden, intermediate = config.hidden_size, config.intermediate_size
    query_rows, key_rows = config.num_heads * config.head_size, config.num_kv_heads * config.head_size
    orders: list[RowOrder | None] = [None, None, None]
    if architecture.pairs_interleaved:
        orders = [_halves_order(config.num_heads), _halves_order(config.num_kv_heads), None]
    heads = [(f"{prefix}.attn_q", query_rows), (f"{prefix}.attn_k", key_rows), (f"{prefix}.attn_v", key_rows)]
    gate_and_up = [(f"{prefix}.ffn_gate", intermediate), (f"{prefix}.ffn_up", intermediate)]
    return LayerWeights(
        attention_norm=reader.vector(f"{prefix}.attn_norm.weight", hidden),
        qkv=_read_linear(reader, heads, hidden, orders),
        attention_output=_read_linear(reader, [(f"{prefix}.attn_output", hidden)], query_rows),
        mlp_norm=reader.vector(f"{prefix}.ffn_norm.weight", hidden),
        gate_and_up=_read_linear(reader, gate_and_up, hidden),
        down=_read_linear(reader, [(f"{prefix}.ffn_down", hidden)], intermediate),
        **_read_norms(prefix, architecture, config, reader),
    )


def _read_norms(
    prefix: str, architecture: Architecture, config: DecoderConfig, reader: WeightReader
) -> dict[str, torch.Tensor]:
    """The norms that only some architectures have, by their place in a layer."""
    norms: dict[str, torch.Tensor] = {}
    if architecture.has_head_norms:
        norms["query_norm"] = reader.vector(f"{prefix}.attn_q_norm.weight", config.head_size)
        norms["key_norm"] = reader.vector(f"{prefix}.attn_k_norm.weight", config.head_size)
    if architecture.has_post_norms:
        norms["attention_post_norm"] = reader.vector(f"{prefix}.post_attention_norm.weight", config.hidden_size)
        norms["mlp_post_norm"] = reader.vector(f"{prefix}.post_ffw_norm.weight", config.hidden_size)
    return norms


def _read_linear(
    reader: WeightReader, parts: Sequence[tuple[str, int]], num_columns: int, orders: Sequence[RowOrder | None] = ()
) -> LinearWeight:
    """Linears of one input, stacked; a part without a bias where another has one gets a bias of zero."""
    matrix = reader.matrix([(f"{name}.weight", rows) for name, rows in parts], num_columns, orders)
    if not any(reader.has(f"{name}.bias") for name, _ in parts):
        return LinearWeight(matrix)
    orders = orders or [None] * len(parts)
    biases = [_read_bias(reader, name, rows, order) for (name, rows), order in zip(parts, orders, strict=True)]
    return LinearWeight(matrix, torch.cat(biases))


def _read_bias(reader: WeightReader, name: str, rows: int, order: RowOrder | None) -> torch.Tensor:
    if not reader.has(f"{name}.bias"):
        return torch.zeros(rows, dtype=reader.dtype, device=reader.device)
    bias = reader.vector(f"{name}.bias", rows)
    if order is None:
        return bias
    places = order(np.arange(rows, dtype=np.uint32).view(np.uint8).reshape(rows, -1))
    return bias[torch.from_numpy(places.reshape(-1).view(np.int32).astype(np.int64)).to(bias.device)]


def _halves_order(num_heads: int) -> RowOrder:
    """Undo what the converter does to a llama's queries and keys: pairs (2i, 2i+1) back to (i, i + head_size / 2)."""

    def reorder(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        pairs = rows.reshape(num_heads, -1, 2, rows.shape[-1])
        return pairs.swapaxes(1, 2).reshape(rows.shape)

    return reorder


def _refuse_unread(reader: WeightReader) -> None:
    unread = reader.unread_names()
    if unread:
        named = ", ".join(unread[:3]) + (", ..." if len(unread) > 3 else "")
        cause = f"{reader.file.path.name} holds tensors that PageDesk does not compute with yet: {named}."
        raise ModelFileError(cause, "Choose another model.")
