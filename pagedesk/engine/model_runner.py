"""Loads a model and computes steps with it. Engine thread.

It knows tensors and devices, not requests or chats: a step comes in as plain values and tokens go out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from pagedesk.engine.backends.packing import PackedStep, pack_slices
from pagedesk.engine.batch import StepPlan, StepResult
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.memory.device_memory import give_back_unused
from pagedesk.engine.memory.kv_cache import clean_blocks, copy_blocks
from pagedesk.engine.memory.meter import MemoryMeter
from pagedesk.engine.models.decoder import Decoder
from pagedesk.engine.models.loading import ProgressCallback, load_decoder
from pagedesk.engine.sampling.sampler import sample
from pagedesk.geometry import ModelGeometry
from pagedesk.protocol import ModelInfo


class ModelRunner:
    """Computes one step after another on a model and its cache."""

    def __init__(self, decoder: Decoder, kv_cache: torch.Tensor, num_tokens: int) -> None:
        """`num_tokens`: how many ids the vocabulary names; rows of the head beyond it are never chosen."""
        self._decoder: Decoder | None = decoder
        self._kv_cache = kv_cache
        self._block_size = kv_cache.shape[3]
        self._windows = tuple(group.window for group in decoder.config.groups)
        self._num_tokens = num_tokens

    def run(self, plan: StepPlan) -> StepResult:
        """Copy blocks, compute all slices in one batch, and choose a token for each that wants one.

        A sequence whose numbers are NaN or Inf is named in `faults`, and the blocks that it wrote are cleaned: what
        they hold is then wrong, but harmless to whoever gets them next.
        """
        with torch.inference_mode():
            copy_blocks(self._kv_cache, plan.copies)
            if not plan.slices:
                return StepResult({})
            step = pack_slices(plan.slices, self._block_size, self._kv_cache.device, self._windows)
            hidden = self._forward(step)
            tokens = self._choose(step, hidden)
            faults = self._find_faults(step, hidden) | {key for key, token in tokens.items() if token is None}
        chosen = {key: token for key, token in tokens.items() if token is not None and key not in faults}
        return StepResult(chosen, frozenset(faults))

    def close(self) -> None:
        """Give all memory back; the runner is of no use afterwards."""
        device = self._kv_cache.device
        self._decoder = None
        self._kv_cache = torch.empty(0)
        give_back_unused(device)

    def _forward(self, step: PackedStep) -> torch.Tensor:
        assert self._decoder is not None, "the runner is closed"
        attention = self._decoder.plan_attention(step.batches)
        return self._decoder.forward(step.token_ids, step.positions, attention, self._kv_cache)

    def _choose(self, step: PackedStep, hidden: torch.Tensor) -> dict[int, int | None]:
        assert self._decoder is not None, "the runner is closed"
        sequence_ids, rows, specs = step.sampled()
        if not rows:
            return {}
        logits = self._decoder.logits(hidden[rows])[:, : self._num_tokens]
        return dict(zip(sequence_ids, sample(logits, specs), strict=True))

    def _find_faults(self, step: PackedStep, hidden: torch.Tensor) -> set[int]:
        """Whatever is not finite in a key or value of a step is not finite in the hidden state of its token."""
        if bool(hidden.isfinite().all()):
            return set()
        finite = torch.split(hidden.isfinite().all(1), list(step.query_lens))
        faulty = [piece for piece, rows in zip(step.slices, finite, strict=True) if not bool(rows.all())]
        for piece in faulty:
            first_written = piece.start_position // self._block_size
            for table in piece.tables:
                clean_blocks(self._kv_cache, table.block_ids[first_written - table.first_index :])
        return {piece.sequence_id for piece in faulty}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that takes steps, and what is known of it.

    Attributes:
        runner: Computes steps.
        info: What the user sees.
        meter: Tells where the device's memory is.
        geometry: Its sizes; `max_model_len` is the limit in force.
        block_bytes: Bytes of a block of the cache.
        num_blocks: Blocks of the cache.
        windows: How far each group of layers looks back.
        metadata: The key/values of the file, for the text side.
    """

    runner: ModelRunner
    info: ModelInfo
    meter: MemoryMeter
    geometry: ModelGeometry
    block_bytes: int
    num_blocks: int
    windows: tuple[int | None, ...]
    metadata: Mapping[str, object]


def load_model(config: EngineConfig, on_progress: ProgressCallback) -> LoadedModel:
    """Open, budget, read and place a model.

    Args:
        config: What to load and how.
        on_progress: Called with (stage, done, total): "header", then "weights" in bytes of the file, then "cache" in
            bytes of the pool.

    Raises:
        ModelFileError: The file cannot be used.
        OutOfBudgetError: It does not fit.
    """
    placed = load_decoder(config, on_progress)
    return LoadedModel(
        runner=ModelRunner(placed.decoder, placed.kv_cache, placed.num_tokens),
        info=placed.info,
        meter=placed.meter,
        geometry=placed.geometry,
        block_bytes=placed.block_bytes,
        num_blocks=len(placed.kv_cache),
        windows=tuple(group.window for group in placed.geometry.groups),
        metadata=placed.metadata,
    )
