"""The decoder: token ids and positions in, hidden states and logits out. One class for every architecture.

Engine thread. It knows layers and their order; what a device can do is the backend's, where blocks are is the batch's.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pagedesk.engine.backends.base import AttentionBatch, Backend, LinearWeight, StepAttention
from pagedesk.engine.models.config import DecoderConfig
from pagedesk.engine.models.rope import rope_angles


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer: queries, keys and values are one matrix, gate and up another."""

    attention_norm: torch.Tensor
    qkv: LinearWeight
    attention_output: LinearWeight
    mlp_norm: torch.Tensor
    gate_and_up: LinearWeight
    down: LinearWeight


@dataclass(frozen=True, slots=True)
class DecoderWeights:
    """All tensors of a decoder.

    Attributes:
        embedding: [vocab_size, hidden_size].
        layers: From the first to the last.
        output_norm: [hidden_size].
        head: [vocab_size, hidden_size]; the embedding itself where the two are tied.
        rope_frequencies: float32 [head_size / 2].
    """

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    output_norm: torch.Tensor
    head: LinearWeight
    rope_frequencies: torch.Tensor


class Decoder:
    """Computes a packed batch of sequences of any lengths."""

    def __init__(self, config: DecoderConfig, weights: DecoderWeights, backend: Backend) -> None:
        self.config = config
        self._weights = weights
        self._backend = backend

    @property
    def backend_name(self) -> str:
        """The house that computes."""
        return self._backend.name

    def plan_attention(self, batch: AttentionBatch) -> StepAttention:
        """What all layers of a step share."""
        return self._backend.plan_attention(batch, self.config.attention_scale)

    def forward(
        self, token_ids: torch.Tensor, positions: torch.Tensor, attention: StepAttention, kv_cache: torch.Tensor
    ) -> torch.Tensor:
        """Compute the batch and write its keys and values to the cache.

        Args:
            token_ids: int64 [num_tokens].
            positions: int64 [num_tokens].
            attention: The plan of this step.
            kv_cache: [num_blocks, num_layers, 2, block_size, num_kv_heads, head_size].

        Returns:
            Normed hidden states, [num_tokens, hidden_size].
        """
        weights, backend, eps = self._weights, self._backend, self.config.norm_eps
        residual = torch.nn.functional.embedding(token_ids, weights.embedding)
        angles = rope_angles(positions, weights.rope_frequencies, residual.dtype)
        normed = backend.rms_norm(residual, weights.layers[0].attention_norm, eps)
        for index, layer in enumerate(weights.layers):
            key_cache, value_cache = kv_cache[:, index].unbind(1)
            mixed = self._attend(normed, layer, angles, attention, (key_cache, value_cache))
            normed, residual = backend.add_rms_norm(mixed, residual, layer.mlp_norm, eps)
            computed = self._feed_forward(normed, layer)
            normed, residual = backend.add_rms_norm(computed, residual, self._norm_after(index), eps)
        return normed

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores of the next token for rows of `forward`'s result: float32 [num_rows, vocab_size]."""
        return self._backend.linear(hidden, self._weights.head).to(torch.float32)

    def _norm_after(self, index: int) -> torch.Tensor:
        layers = self._weights.layers
        return layers[index + 1].attention_norm if index + 1 < len(layers) else self._weights.output_norm

    def _attend(
        self,
        normed: torch.Tensor,
        layer: LayerWeights,
        angles: tuple[torch.Tensor, torch.Tensor],
        attention: StepAttention,
        caches: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        config = self.config
        num_turned = config.num_heads + config.num_kv_heads
        heads = self._backend.linear(normed, layer.qkv)
        heads = heads.view(len(normed), num_turned + config.num_kv_heads, config.head_size)
        turned = self._backend.rope(heads[:, :num_turned], *angles)
        attention.store(turned[:, config.num_heads :], heads[:, num_turned:], *caches)
        attended = attention.attend(turned[:, : config.num_heads], *caches)
        return self._backend.linear(attended.view(len(normed), -1), layer.attention_output)

    def _feed_forward(self, normed: torch.Tensor, layer: LayerWeights) -> torch.Tensor:
        activated = self._backend.gated_activation(self._backend.linear(normed, layer.gate_and_up))
        return self._backend.linear(activated, layer.down)
