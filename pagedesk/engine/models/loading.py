"""Opens a model file, deals out the memory, reads the weights and places the cache. Engine thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch

from pagedesk.engine.backends.device import select_device, select_dtype, torch_dtype
from pagedesk.engine.backends.select import select_backend
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.memory.device_memory import DeviceMemory, give_back_unused, probe_memory
from pagedesk.engine.memory.kv_cache import allocate_kv_cache
from pagedesk.engine.memory.meter import MemoryMeter
from pagedesk.engine.memory.plan import MemoryPlan, plan_memory
from pagedesk.engine.memory.workspace import max_gathered_tokens
from pagedesk.engine.models.assemble import assemble_weights
from pagedesk.engine.models.config import DecoderConfig, read_decoder_config
from pagedesk.engine.models.decoder import Decoder
from pagedesk.engine.models.registry import Architecture, find_architecture
from pagedesk.engine.weights.gguf import GgufFile
from pagedesk.engine.weights.locate import find_model_file, refuse_split_file
from pagedesk.engine.weights.naming import model_name, quantisation_name
from pagedesk.engine.weights.reader import TableReader, WeightReader
from pagedesk.geometry import ModelGeometry
from pagedesk.protocol import DType, ModelInfo

_log = logging.getLogger(__name__)

ProgressCallback = Callable[[str, int, int], None]
"""(stage, done, total); a total of 0 means that it is not known."""


@dataclass(frozen=True, slots=True)
class PlacedDecoder:
    """A decoder in memory beside its cache.

    Attributes:
        decoder: Computes.
        kv_cache: [num_blocks, layers of a group, 2, block_size, num_kv_heads, head_size].
        num_tokens: How many ids the vocabulary names; the head may have more rows.
        info: What the user sees.
        meter: Tells where the device's memory is.
        geometry: Its sizes; `max_model_len` is the limit in force.
        block_bytes: Bytes of a block of the cache.
        metadata: The key/values of the file.
    """

    decoder: Decoder
    kv_cache: torch.Tensor
    num_tokens: int
    info: ModelInfo
    meter: MemoryMeter
    geometry: ModelGeometry
    block_bytes: int
    metadata: Mapping[str, object]


def load_decoder(config: EngineConfig, on_progress: ProgressCallback) -> PlacedDecoder:
    """Load what `config` names.

    Raises:
        ModelFileError: The file cannot be used.
        OutOfBudgetError: It does not fit.
    """
    on_progress("header", 0, 0)
    path = find_model_file(config.model_path)
    with GgufFile(path) as file:
        refuse_split_file(path, file.metadata)
        return _Loading(config, file).place(on_progress)


def check_model(config: EngineConfig) -> Mapping[str, object]:
    """Tell whether a model could be loaded, as far as that can be told while another one holds the memory.

    Reads the header and the table of tensors, no weights.

    Returns:
        The key/values of the file.

    Raises:
        ModelFileError: The file cannot be used.
        OutOfBudgetError: It would not fit, even if nothing else were in memory.
    """
    path = find_model_file(config.model_path)
    with GgufFile(path) as file:
        refuse_split_file(path, file.metadata)
        _Loading(config, file).check()
        return file.metadata


class _Loading:
    """One load: what is decided from the header, used by every later stage."""

    def __init__(self, config: EngineConfig, file: GgufFile) -> None:
        self._config = config
        self._file = file
        self._architecture: Architecture = find_architecture(file.metadata)
        self._decoder_config: DecoderConfig = read_decoder_config(self._architecture, file.metadata)
        self._device = select_device(config.device)
        self._dtype: DType = select_dtype(config.dtype, self._device, fits_float16=self._architecture.fits_float16)
        trained_len = self._decoder_config.context_length
        self._geometry = self._decoder_config.geometry(min(config.max_model_len or trained_len, trained_len))

    def check(self) -> None:
        """Assemble the weights on paper, and deal out all the memory that there is."""
        assemble_weights(self._architecture, self._decoder_config, TableReader(self._file, torch_dtype(self._dtype)))
        memory = probe_memory(self._device)
        self._plan(replace(memory, free_bytes=memory.total_bytes))

    def place(self, on_progress: ProgressCallback) -> PlacedDecoder:
        """Weights first, then the cache in what is left."""
        give_back_unused(self._device)  # a load that failed or was given up has left what the driver counts as used
        self._log_groups()
        memory = probe_memory(self._device)
        plan = self._plan(memory)
        decoder = self._read_decoder(on_progress)
        return PlacedDecoder(
            decoder=decoder,
            kv_cache=self._allocate_cache(plan, on_progress),
            num_tokens=self._num_tokens(),
            info=self._info(memory, decoder),
            meter=MemoryMeter(plan, lambda: probe_memory(self._device)),
            geometry=self._geometry,
            block_bytes=plan.block_bytes,
            metadata=self._file.metadata,
        )

    def _log_groups(self) -> None:
        geometry = self._geometry
        if len(geometry.groups) > 1:
            num_places = len(geometry.groups) * geometry.layers_per_block
            kinds = ", ".join(f"{len(group.layers)} (window {group.window})" for group in geometry.groups)
            _log.info("layers by group: %s; %d of %d places empty", kinds, geometry.num_padded_layers, num_places)

    def _plan(self, memory: DeviceMemory) -> MemoryPlan:
        element_bytes = torch_dtype(self._dtype).itemsize
        return plan_memory(self._config, self._geometry, self._num_parameters() * element_bytes, element_bytes, memory)

    def _read_decoder(self, on_progress: ProgressCallback) -> Decoder:
        def on_bytes(done: int, total: int) -> None:
            on_progress("weights", done, total)

        reader = WeightReader(self._file, torch_dtype(self._dtype), self._device, on_bytes)
        weights = assemble_weights(self._architecture, self._decoder_config, reader)
        self._file.refuse_changed()
        dtype, gathered = torch_dtype(self._dtype), max_gathered_tokens(self._geometry)
        backend = select_backend(self._device, dtype, self._config.block_size, gathered)
        return Decoder(self._decoder_config, weights, backend)

    def _allocate_cache(self, plan: MemoryPlan, on_progress: ProgressCallback) -> torch.Tensor:
        on_progress("cache", 0, plan.pool_bytes)
        kv_cache = allocate_kv_cache(
            self._geometry, plan.num_blocks, self._config.block_size, torch_dtype(self._dtype), self._device
        )
        on_progress("cache", plan.pool_bytes, plan.pool_bytes)
        return kv_cache

    def _num_parameters(self) -> int:
        return sum(tensor.num_values for tensor in self._file.tensors.values())

    def _num_tokens(self) -> int:
        tokens = self._file.metadata.get("tokenizer.ggml.tokens")
        named = len(tokens) if isinstance(tokens, list) else 0
        return min(named or self._geometry.vocab_size, self._geometry.vocab_size)

    def _info(self, memory: DeviceMemory, decoder: Decoder) -> ModelInfo:
        quantisation = quantisation_name(self._file.metadata, self._file.tensors.values())
        return ModelInfo(
            name=model_name(self._file.path, quantisation),
            path=str(self._file.path),
            architecture=self._architecture.name,
            quantisation=quantisation,
            file_bytes=self._file.num_bytes,
            num_parameters=self._num_parameters(),
            max_model_len=self._geometry.max_model_len,
            dtype=self._dtype,
            device_name=memory.device_name,
            backend_name=decoder.backend_name,
        )
