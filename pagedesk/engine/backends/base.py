"""What the decoder asks of a device: attention over blocks, linears and the small functions between them.

Engine thread. A house implements `Backend` for one kind of device; the decoder knows this interface only. A backend
holds no state of a step: what belongs to a step is in the `StepAttention` that it plans.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import torch

from pagedesk.engine.backends.activation import Activation


@dataclass(frozen=True, slots=True)
class AttentionBatch:
    """Where the tokens of a step stand in the cache, for one group of layers. Sequences with one query come first.

    Attributes:
        slot_mapping: int64 [num_tokens]: block * block_size + offset of each token; -1 for a padded row.
        block_tables: int32 [num_sequences, max_blocks], padded with 0.
        seq_lens: int32 [num_sequences]: tokens in these blocks after this step, counted from the first block of the
            table: blocks that left the window are not in it.
        cu_seqlens: int32 [num_sequences + 1]: where the queries of each sequence start in the packed batch.
        host_seq_lens: `seq_lens` as plain numbers.
        host_query_lens: New tokens of each sequence, as plain numbers.
        num_decodes: How many sequences, from the first, have exactly one query.
        window: How many tokens each query looks back on, its own included; None: all.
    """

    slot_mapping: torch.Tensor
    block_tables: torch.Tensor
    seq_lens: torch.Tensor
    cu_seqlens: torch.Tensor
    host_seq_lens: tuple[int, ...]
    host_query_lens: tuple[int, ...]
    num_decodes: int
    window: int | None = None


@dataclass(frozen=True, slots=True)
class LinearWeight:
    """A dense matrix [out_features, in_features] and an optional bias [out_features]."""

    matrix: torch.Tensor
    bias: torch.Tensor | None = None


class StepAttention(Protocol):
    """The attention of one step, planned once and used by every layer: first `store`, then `attend`."""

    def store(
        self, keys: torch.Tensor, values: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor
    ) -> None:
        """Write the step's keys and values to the slots of the batch.

        Args:
            keys: [num_tokens, num_kv_heads, head_size], a strided view.
            values: The same.
            key_cache: [num_blocks, block_size, num_kv_heads, head_size], a strided view of the layer's part.
            value_cache: The same for values.
        """
        ...

    def attend(self, queries: torch.Tensor, key_cache: torch.Tensor, value_cache: torch.Tensor) -> torch.Tensor:
        """Causal attention of each query over its sequence's blocks, as far as the window reaches.

        Args:
            queries: [num_tokens, num_heads, head_size], packed as the batch says.
            key_cache: As for `store`; the step's own keys are in.
            value_cache: The same for values.

        Returns:
            [num_tokens, num_heads, head_size].
        """
        ...


class Backend(ABC):
    """One house. All floating tensors of a call have one dtype and live on the backend's device."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the user sees, for instance "reference"."""

    @abstractmethod
    def plan_attention(self, batch: AttentionBatch, scale: float, softcap: float | None = None) -> StepAttention:
        """Prepare what the layers of a group share in a step.

        Args:
            batch: Where the tokens stand.
            scale: Scores are multiplied by it.
            softcap: Scores s then become softcap * tanh(s / softcap); None: they stay.
        """

    @abstractmethod
    def linear(self, inputs: torch.Tensor, weight: LinearWeight) -> torch.Tensor:
        """`inputs` [num_tokens, in_features] times the matrix transposed, plus bias: [num_tokens, out_features]."""

    @abstractmethod
    def rms_norm(self, inputs: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        """Each row over the root of its mean square, times `weight` [row size]; summed in float32.

        `inputs` [..., row size] may be a strided view.
        """

    @abstractmethod
    def add_rms_norm(
        self, inputs: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The norm of `inputs + residual`, and that sum, which may be written over `residual`."""

    @abstractmethod
    def rope(self, heads: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        """Turn the pairs (i, i + head_size / 2) of each head; may write over `heads`.

        Args:
            heads: [num_tokens, num_heads, head_size], a strided view.
            cosines: [num_tokens, 1, head_size / 2].
            sines: The same.
        """

    @abstractmethod
    def gated_activation(self, gate_and_up: torch.Tensor, activation: Activation) -> torch.Tensor:
        """The activation of the first half of each row times the second half: [num_tokens, intermediate_size]."""
