"""Turns the tensors of a GGUF file into dense torch tensors, a slab of rows at a time.

Engine thread. Knows files and number formats, not what a tensor is for. The gguf package does the dequantising and is
imported at the first use. Extra memory while reading: one slab, and for reordered tensors their bytes in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import override

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.ggml_types import GgmlType
from pagedesk.engine.weights.gguf import GgufFile, TensorInfo

RowOrder = Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.uint8]]
"""Puts the rows of a tensor, as bytes, into the order that the model computes in."""

_SLAB_VALUES = 1 << 22
_PLAIN_TYPES = {"F32": np.float32, "F16": np.float16}


class WeightReader:
    """Reads tensors by name and notes which ones were read.

    Attributes:
        file: Where they come from.
        dtype: What matrices become.
        device: Where they go.
    """

    def __init__(
        self, file: GgufFile, dtype: torch.dtype, device: torch.device, on_bytes: Callable[[int, int], None]
    ) -> None:
        """`on_bytes(done, total)` is called after each slab, in bytes of the file."""
        self.file = file
        self.dtype = dtype
        self.device = device
        self._on_bytes = on_bytes
        self._total_bytes = sum(tensor.num_bytes for tensor in file.tensors.values())
        self._done_bytes = 0
        self._names_read: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether the file holds this tensor."""
        return name in self.file.tensors

    def unread_names(self) -> list[str]:
        """The tensors that nobody asked for, in the order of the file."""
        return [name for name in self.file.tensors if name not in self._names_read]

    def vector(self, name: str, size: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        """A tensor of one axis, [size], in `dtype` (by default that of the matrices)."""
        tensor = self._lookup(name, (size,))
        values = self._empty((size,), dtype or self.dtype)
        self._fill(tensor, values.view(1, size), None)
        return values

    def matrix(
        self, parts: Sequence[tuple[str, int]], num_columns: int, orders: Sequence[RowOrder | None] = ()
    ) -> torch.Tensor:
        """Matrices of equal width, stacked: [sum of rows, num_columns].

        Args:
            parts: Name and number of rows of each, top first.
            num_columns: Their width.
            orders: How to reorder the rows of each; empty: as they are.

        Raises:
            ModelFileError: A tensor is missing, has another shape, or a format that cannot be read.
        """
        tensors = [self._lookup(name, (rows, num_columns)) for name, rows in parts]
        stacked = self._empty((sum(rows for _, rows in parts), num_columns), self.dtype)
        places = torch.split(stacked, [rows for _, rows in parts])
        for tensor, place, order in zip(tensors, places, orders or [None] * len(parts), strict=True):
            self._fill(tensor, place, order)
        return stacked

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def _fill(self, tensor: TensorInfo, destination: torch.Tensor, order: RowOrder | None) -> None:
        num_rows, slab_rows = len(destination), max(1, _SLAB_VALUES // tensor.shape[-1])
        reordered = None if order is None else order(self.file.rows(tensor.name, 0, num_rows))
        for start in range(0, num_rows, slab_rows):
            if reordered is None:
                slab = self.file.rows(tensor.name, start, slab_rows)
            else:
                slab = reordered[start : start + slab_rows]
            values = torch.from_numpy(dequantize_rows(slab, tensor.ggml_type))
            destination[start : start + slab_rows].copy_(values)
            self._done_bytes += slab.nbytes
            self._on_bytes(self._done_bytes, self._total_bytes)
        self._names_read.add(tensor.name)

    def _lookup(self, name: str, shape: tuple[int, ...]) -> TensorInfo:
        tensor = self.file.tensors.get(name)
        if tensor is None:
            cause = f"{self.file.path.name} lacks the tensor {name} that its architecture needs."
            raise ModelFileError(cause, "Download it again, or choose another file.")
        if tensor.shape != shape:
            cause = f"{self.file.path.name} gives the tensor {name} the shape {tensor.shape}, expected is {shape}."
            raise ModelFileError(cause, "Choose a file made by a current converter.")
        return tensor


class TableReader(WeightReader):
    """Reads no weights: what it gives has the right shape, no memory and no meaning.

    It raises whatever the table of tensors says a real reader would raise.
    """

    def __init__(self, file: GgufFile, dtype: torch.dtype) -> None:
        super().__init__(file, dtype, torch.device("cpu"), lambda _done, _total: None)

    @override
    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.ones((), dtype=dtype).expand(shape)

    @override
    def _fill(self, tensor: TensorInfo, destination: torch.Tensor, order: RowOrder | None) -> None:
        kind = tensor.ggml_type
        dequantize_rows(np.zeros((1, kind.row_bytes(kind.block_values)), np.uint8), kind)
        self._names_read.add(tensor.name)


def dequantize_rows(rows: npt.NDArray[np.uint8], ggml_type: GgmlType) -> npt.NDArray[np.float32]:
    """Rows of whole blocks, [rows, row bytes], as numbers, [rows, values].

    Raises:
        ModelFileError: The format is none that weights can be read from.
    """
    if ggml_type.name in _PLAIN_TYPES:
        return np.asarray(rows).view(_PLAIN_TYPES[ggml_type.name]).astype(np.float32)
    from gguf import GGMLQuantizationType, quants  # noqa: PLC0415  # 50 ms that only a load should pay

    try:
        values: npt.NDArray[np.float32] = quants.dequantize(rows, GGMLQuantizationType(ggml_type.type_id))
    except NotImplementedError as error:
        cause = f"This model stores weights in the format {ggml_type.name}, which PageDesk cannot read yet."
        raise ModelFileError(cause, "Choose another quantisation of the same model, for instance Q4_K_M.") from error
    return values
