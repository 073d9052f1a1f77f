"""The decoder: token ids and positions in, hidden states and logits out. One class for every architecture.

Engine thread. It knows layers and their order; what a device can do is the backend's, where blocks are is the batch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from pagedesk.engine.backends.base import AttentionBatch, Backend, LinearWeight, StepAttention
from pagedesk.engine.models.config import DecoderConfig
from pagedesk.engine.models.rope import rope_angles


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer: queries, keys and values are one matrix, gate and up another; None for a norm that it does not have.

    Attributes:
        query_norm: [head_size], the same for each head.
        key_norm: The same for keys.
        attention_post_norm: [hidden_size], for what attention gives.
        mlp_post_norm: The same for the feed-forward.
    """

    attention_norm: torch.Tensor
    qkv: LinearWeight
    attention_output: LinearWeight
    mlp_norm: torch.Tensor
    gate_and_up: LinearWeight
    down: LinearWeight
    query_norm: torch.Tensor | None = None
    key_norm: torch.Tensor | None = None
    attention_post_norm: torch.Tensor | None = None
    mlp_post_norm: torch.Tensor | None = None


@dataclass(frozen=True, slots=True)
class DecoderWeights:
    """All tensors of a decoder.

    Attributes:
        embedding: [vocab_size, hidden_size].
        layers: From the first to the last.
        output_norm: [hidden_size].
        head: [vocab_size, hidden_size]; the embedding itself where the two are tied.
        rope_frequencies: float32 [head_size / 2], for layers without a window.
        window_rope_frequencies: The same for layers with one.
    """

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    output_norm: torch.Tensor
    head: LinearWeight
    rope_frequencies: torch.Tensor
    window_rope_frequencies: torch.Tensor


Angles = tuple[torch.Tensor, torch.Tensor]
"""Cosines and sines of a step's positions."""


class _LayerPlace(NamedTuple):
    """Where a layer's keys and values are: in the blocks of which group, and which layer of them."""

    group_index: int
    layer_in_block: int
    has_window: bool


class Decoder:
    """Computes a packed batch of sequences of any lengths."""

    def __init__(self, config: DecoderConfig, weights: DecoderWeights, backend: Backend) -> None:
        self.config = config
        self._weights = weights
        self._backend = backend
        self._places = _layer_places(config)
        self._embedding_scale = _rounded(config.embedding_scale, weights.embedding.dtype)

    @property
    def backend_name(self) -> str:
        """The house that computes."""
        return self._backend.name

    def plan_attention(self, batches: Sequence[AttentionBatch]) -> tuple[StepAttention, ...]:
        """What the layers of each group share in a step."""
        scale, softcap = self.config.attention_scale, self.config.attention_softcap
        return tuple(self._backend.plan_attention(batch, scale, softcap) for batch in batches)

    def forward(
        self,
        token_ids: torch.Tensor,
        positions: torch.Tensor,
        attention: Sequence[StepAttention],
        kv_cache: torch.Tensor,
    ) -> torch.Tensor:
        """Compute the batch and write its keys and values to the cache.

        Args:
            token_ids: int64 [num_tokens].
            positions: int64 [num_tokens].
            attention: The plan of this step, by group of layers.
            kv_cache: [num_blocks, layers of a group, 2, block_size, num_kv_heads, head_size].

        Returns:
            Normed hidden states, [num_tokens, hidden_size].
        """
        weights, backend, eps = self._weights, self._backend, self.config.norm_eps
        residual = self._embed(token_ids)
        angles = self._angles(positions, residual.dtype)
        normed = backend.rms_norm(residual, weights.layers[0].attention_norm, eps)
        for index, (layer, place) in enumerate(zip(weights.layers, self._places, strict=True)):
            key_cache, value_cache = kv_cache[:, place.layer_in_block].unbind(1)
            caches = (key_cache, value_cache)
            mixed = self._attend(normed, layer, angles[place.has_window], attention[place.group_index], caches)
            mixed = self._normed(mixed, layer.attention_post_norm)
            normed, residual = backend.add_rms_norm(mixed, residual, layer.mlp_norm, eps)
            computed = self._normed(self._feed_forward(normed, layer), layer.mlp_post_norm)
            normed, residual = backend.add_rms_norm(computed, residual, self._norm_after(index), eps)
        return normed

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores of the next token for rows of `forward`'s result: float32 [num_rows, vocab_size]."""
        scores = self._backend.linear(hidden, self._weights.head).to(torch.float32)
        cap = self.config.final_softcap
        return scores if cap is None else scores.div_(cap).tanh_().mul_(cap)

    def _embed(self, token_ids: torch.Tensor) -> torch.Tensor:
        embedded = torch.nn.functional.embedding(token_ids, self._weights.embedding)
        return embedded if self._embedding_scale == 1 else embedded.mul_(self._embedding_scale)

    def _angles(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[Angles, Angles]:
        """Those of layers without a window, and of layers with one."""
        weights = self._weights
        angles = rope_angles(positions, weights.rope_frequencies, dtype)
        if weights.window_rope_frequencies is weights.rope_frequencies:
            return angles, angles
        return angles, rope_angles(positions, weights.window_rope_frequencies, dtype)

    def _normed(self, values: torch.Tensor, norm: torch.Tensor | None) -> torch.Tensor:
        return values if norm is None else self._backend.rms_norm(values, norm, self.config.norm_eps)

    def _norm_after(self, index: int) -> torch.Tensor:
        layers = self._weights.layers
        return layers[index + 1].attention_norm if index + 1 < len(layers) else self._weights.output_norm

    def _attend(
        self,
        normed: torch.Tensor,
        layer: LayerWeights,
        angles: Angles,
        attention: StepAttention,
        caches: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        config = self.config
        num_turned = config.num_heads + config.num_kv_heads
        heads = self._backend.linear(normed, layer.qkv)
        heads = heads.view(len(normed), num_turned + config.num_kv_heads, config.head_size)
        turned = self._backend.rope(self._normed_heads(heads[:, :num_turned], layer), *angles)
        attention.store(turned[:, config.num_heads :], heads[:, num_turned:], *caches)
        attended = attention.attend(turned[:, : config.num_heads], *caches)
        return self._backend.linear(attended.view(len(normed), -1), layer.attention_output)

    def _normed_heads(self, heads: torch.Tensor, layer: LayerWeights) -> torch.Tensor:
        """Queries and keys, [num_tokens, num_heads + num_kv_heads, head_size], with the norms of their heads."""
        if layer.query_norm is None and layer.key_norm is None:
            return heads
        queries, keys = heads.tensor_split([self.config.num_heads], dim=1)
        return torch.cat((self._normed(queries, layer.query_norm), self._normed(keys, layer.key_norm)), dim=1)

    def _feed_forward(self, normed: torch.Tensor, layer: LayerWeights) -> torch.Tensor:
        gate_and_up = self._backend.linear(normed, layer.gate_and_up)
        activated = self._backend.gated_activation(gate_and_up, self.config.activation)
        return self._backend.linear(activated, layer.down)


def _layer_places(config: DecoderConfig) -> tuple[_LayerPlace, ...]:
    places = {
        layer: _LayerPlace(group_index, index, group.window is not None)
        for group_index, group in enumerate(config.groups)
        for index, layer in enumerate(group.layers)
    }
    return tuple(places[layer] for layer in range(config.num_layers))


def _rounded(value: float, dtype: torch.dtype) -> float:
    """A number as the model's format holds it, because that is what the model was trained with."""
    return float(torch.tensor(value).to(dtype))
