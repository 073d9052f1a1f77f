"""The exact house: plain torch on any device. Slow is allowed, wrong is not.

Engine thread. It reads the cache through the block table, as the kernels do: a scattered block order changes nothing.
"""

from __future__ import annotations

import torch
from torch.nn import functional
from typing_extensions import override

from pagedesk.engine.backends.activation import Activation
from pagedesk.engine.backends.base import AttentionBatch, Backend, LinearWeight, StepAttention
from pagedesk.engine.backends.reference_attention import ReferenceAttention, Scoring
from pagedesk.engine.backends.row_padding import pad_rows


class ReferenceBackend(Backend):
    """Torch's own functions."""

    def __init__(self, block_size: int, max_gathered_tokens: int) -> None:
        """`max_gathered_tokens`: at most so many cached tokens are gathered at a time, the bound of its workspace."""
        self._block_size = block_size
        self._max_gathered_tokens = max_gathered_tokens

    @property
    @override
    def name(self) -> str:
        return "reference"

    @override
    def plan_attention(self, batch: AttentionBatch, scale: float, softcap: float | None = None) -> StepAttention:
        return ReferenceAttention(batch, Scoring(scale, softcap), self._block_size, self._max_gathered_tokens)

    @override
    def linear(self, inputs: torch.Tensor, weight: LinearWeight) -> torch.Tensor:
        return functional.linear(pad_rows(inputs), weight.matrix, weight.bias)[: len(inputs)]

    @override
    def rms_norm(self, inputs: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return functional.rms_norm(inputs, weight.shape, weight, eps)

    @override
    def add_rms_norm(
        self, inputs: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        residual.add_(inputs)
        return functional.rms_norm(residual, weight.shape, weight, eps), residual

    @override
    def rope(self, heads: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        first, second = heads.chunk(2, dim=-1)
        turned_first = (first * cosines).addcmul_(second, sines, value=-1)
        turned_second = (second * cosines).addcmul_(first, sines)
        return torch.cat((turned_first, turned_second), dim=-1)

    @override
    def gated_activation(self, gate_and_up: torch.Tensor, activation: Activation) -> torch.Tensor:
        gate, up = gate_and_up.chunk(2, dim=-1)
        if activation is Activation.GELU_TANH:
            return functional.gelu(gate, approximate="tanh").mul_(up)
        return functional.silu(gate).mul_(up)
