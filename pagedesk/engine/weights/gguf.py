"""Opens a GGUF file: its metadata, its table of tensors, and their bytes.

Any thread, one at a time. Knows what a file may contain, not what a model needs. Every refusal is a `ModelFileError`
with a sentence that names the file. Nothing is memory-mapped: a file that shrinks under a map ends the program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from math import prod
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.ggml_types import GGML_TYPES, WITHDRAWN_TYPES, GgmlType
from pagedesk.engine.weights.gguf_header import HeaderCursor, HeaderError, HeaderTruncatedError, Metadata
from pagedesk.engine.weights.magic import GGUF_MAGIC, describe_bytes

_DOWNLOAD_AGAIN = "Download it again, or choose another file."
_OTHER_FILE = "Choose another file of the same model, or download this one again."
_MIN_TENSOR_ENTRY_BYTES = 8 + 1 + 4 + 8 + 4 + 8
_DEFAULT_ALIGNMENT, _MAX_ALIGNMENT = 32, 1 << 20
_MAX_DIMENSIONS = 4


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An entry of the tensor table.

    Attributes:
        shape: In torch's order: rows first, the contiguous axis last.
        offset: Of the first byte, from the start of the file.
        num_bytes: Size in the file.
    """

    name: str
    shape: tuple[int, ...]
    ggml_type: GgmlType
    offset: int
    num_bytes: int

    @property
    def num_values(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


class GgufFile:
    """A GGUF file that is open; use it as a context manager.

    Attributes:
        path: Where it is.
        num_bytes: Its size.
        metadata: Its key/values.
        tensors: Its tensor table, by name, in the order of the file.
    """

    def __init__(self, path: Path) -> None:
        """Open and check `path`.

        Raises:
            ModelFileError: It is missing, foreign, damaged or truncated.
        """
        self.path = path
        with _explained(path):
            self._file = FileIO(path)
            self._state = _state(self._file)
        try:
            self.num_bytes, _ = self._state
            self.metadata, self.tensors = self._read_header()
        except BaseException:
            self.close()
            raise

    def rows(self, name: str, first: int, count: int) -> npt.NDArray[np.uint8]:
        """Read the bytes of `count` rows of a tensor from row `first` on, or as many as there are.

        Returns:
            [rows, bytes of a row].

        Raises:
            ModelFileError: They cannot be read, or the file became shorter.
        """
        tensor = self.tensors[name]
        row_bytes = tensor.ggml_type.row_bytes(tensor.shape[-1])
        count = min(count, tensor.num_bytes // row_bytes - first)
        data = np.empty((count, row_bytes), np.uint8)
        self._read_into(data.data.cast("B"), tensor.offset + first * row_bytes)
        return data

    def refuse_changed(self) -> None:
        """Check that what was read is of one piece.

        Raises:
            ModelFileError: The file was written to since it was opened.
        """
        with _explained(self.path):
            if _state(self._file) == self._state:
                return
        cause = f"{self.path.name} changed while it was read."
        raise ModelFileError(
            cause, "Wait until nothing writes to it any more (a download, a copy), then open it again."
        )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read_header(self) -> tuple[Metadata, dict[str, TensorInfo]]:
        _refuse_foreign(self.path, self._read(0, min(64, self.num_bytes)))
        try:
            return _parse_header(self.path, HeaderCursor(self._read, self.num_bytes, len(GGUF_MAGIC)), self.num_bytes)
        except ModelFileError:
            self.refuse_changed()
            raise

    def _read(self, offset: int, num_bytes: int) -> bytes:
        data = bytearray(num_bytes)
        self._read_into(memoryview(data), offset)
        return bytes(data)

    def _read_into(self, place: memoryview, offset: int) -> None:
        with _explained(self.path):
            self._file.seek(offset)
            while place:
                num_read = self._file.readinto(place)
                if not num_read:
                    self.refuse_changed()
                    raise OSError("it ends too early")
                place = place[num_read:]

    def __enter__(self) -> GgufFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no file {path}.", "Check the path, or choose another file.") from error
    except OSError as error:
        cause = f"{path.name} cannot be read: {error.strerror or error}."
        raise ModelFileError(cause, "Check that you may read it and that its drive is connected.") from error


def _state(file: FileIO) -> tuple[int, int]:
    """Size, and when it was last written."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _refuse_foreign(path: Path, start: bytes) -> None:
    if not start.startswith(GGUF_MAGIC):
        cause = f"{path.name} is not a GGUF file: {describe_bytes(start)}."
        raise ModelFileError(cause, "Choose a file that ends in .gguf.")


def _parse_header(path: Path, cursor: HeaderCursor, file_bytes: int) -> tuple[Metadata, dict[str, TensorInfo]]:
    try:
        _check_version(cursor.count(4))
        num_tensors, num_pairs = cursor.count(), cursor.count()
        metadata = cursor.key_values(num_pairs)
        tensors = _read_tensor_table(cursor, num_tensors, _alignment(metadata))
    except HeaderTruncatedError as error:
        cause = f"{path.name} is cut off: it {error}, at least {error.missing_bytes:,} bytes are missing."
        raise ModelFileError(cause, _DOWNLOAD_AGAIN) from error
    except HeaderError as error:
        raise ModelFileError(f"{path.name} is damaged or of a foreign kind: it {error}.", _OTHER_FILE) from error
    _check_end(path, file_bytes, tensors)
    return metadata, tensors


def _check_version(version: int) -> None:
    if version & 0xFFFF == 0:
        raise HeaderError("is written in big-endian byte order, which PageDesk does not read")
    if version not in (2, 3):
        raise HeaderError(f"has GGUF version {version}, PageDesk reads 2 and 3")


def _alignment(metadata: Metadata) -> int:
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    valid = type(alignment) is int and 0 < alignment <= _MAX_ALIGNMENT and alignment & (alignment - 1) == 0
    if not isinstance(alignment, int) or not valid:
        raise HeaderError(f"has the impossible alignment {alignment!r:.40}")
    return alignment


def _read_tensor_table(cursor: HeaderCursor, num_tensors: int, alignment: int) -> dict[str, TensorInfo]:
    cursor.check_count(num_tensors, _MIN_TENSOR_ENTRY_BYTES)
    entries = [_read_entry(cursor, alignment) for _ in range(num_tensors)]
    data_start = -(-cursor.offset // alignment) * alignment
    tensors: dict[str, TensorInfo] = {}
    for name, shape, ggml_type, offset in entries:
        if name in tensors:
            raise HeaderError(f"names the tensor {name[:80]!r} twice")
        num_bytes = prod(shape[:-1]) * ggml_type.row_bytes(shape[-1])
        tensors[name] = TensorInfo(name, shape, ggml_type, data_start + offset, num_bytes)
    return tensors


def _read_entry(cursor: HeaderCursor, alignment: int) -> tuple[str, tuple[int, ...], GgmlType, int]:
    name = cursor.string()
    num_dimensions = cursor.count(4)
    if not 1 <= num_dimensions <= _MAX_DIMENSIONS:
        raise HeaderError(f"gives the tensor {name[:80]!r} {num_dimensions} dimensions")
    shape = tuple(cursor.count() for _ in range(num_dimensions))[::-1]
    ggml_type = _ggml_type(name, cursor.count(4))
    offset = cursor.count()
    if 0 in shape or shape[-1] % ggml_type.block_values or offset % alignment:
        raise HeaderError(f"gives the tensor {name[:80]!r} an impossible shape or place")
    return name, shape, ggml_type, offset


def _ggml_type(tensor_name: str, type_id: int) -> GgmlType:
    if type_id in WITHDRAWN_TYPES:
        raise HeaderError(f"uses the format {WITHDRAWN_TYPES[type_id]}, which was withdrawn from ggml")
    if type_id not in GGML_TYPES:
        raise HeaderError(f"stores the tensor {tensor_name[:80]!r} in the unknown format number {type_id}")
    return GGML_TYPES[type_id]


def _check_end(path: Path, file_bytes: int, tensors: dict[str, TensorInfo]) -> None:
    needed = max((tensor.offset + tensor.num_bytes for tensor in tensors.values()), default=0)
    if needed > file_bytes:
        cause = f"{path.name} is cut off: {needed - file_bytes:,} of {needed:,} bytes are missing."
        raise ModelFileError(cause, _DOWNLOAD_AGAIN)
