"""How a model is to be loaded and run: plain values, fixed for the life of a loaded model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pagedesk.geometry import BLOCK_SIZE
from pagedesk.protocol import DType

MAX_NUM_SEQUENCES = 64
MAX_GAP_MS = 150.0
"""Above it a text no longer seems to flow."""


class Allocation(StrEnum):
    """When sequences get their blocks; all but the first are for comparison."""

    ON_DEMAND = "on demand"
    RESERVE_EXACT = "exact final length"
    RESERVE_MAXIMUM = "maximum length"


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Everything that loading a model needs to know.

    Attributes:
        model_path: A GGUF file or a model folder.
        dtype: Number format of weights and cache.
        device: A torch device string; None: CUDA where a card answers, else the CPU.
        budget_bytes: Memory for weights, workspace and pool together; None: from what is free.
        num_blocks: Exact size of the pool in blocks; None: from the budget.
        max_model_len: Longest sequence; None: what the model was trained for.
        block_size: Tokens in a block.
        max_batch_tokens: Most tokens that one step computes.
        max_num_sequences: Most sequences that have the turn at once, and most answers to one request.
        max_gap_ms: The longest time between two tokens of an answer while prompts are computed; None: prompts may take
            as long as they like.
        allocation: When sequences get their blocks.
    """

    model_path: Path
    dtype: DType = DType.AUTO
    device: str | None = None
    budget_bytes: int | None = None
    num_blocks: int | None = None
    max_model_len: int | None = None
    block_size: int = BLOCK_SIZE
    max_batch_tokens: int = 256
    max_num_sequences: int = MAX_NUM_SEQUENCES
    max_gap_ms: float | None = MAX_GAP_MS
    allocation: Allocation = Allocation.ON_DEMAND
