"""Tensors become dense: every format as the gguf package dequantises it, slab by slab, fused and reordered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter, quants
from gguf.constants import GGML_QUANT_SIZES

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.gguf import GgufFile
from pagedesk.engine.weights.reader import WeightReader

READABLE = ["F32", "F16", *sorted(kind.name for kind in quants._type_traits)]
CPU = torch.device("cpu")


def random_rows(kind: GGMLQuantizationType, num_rows: int, num_values: int) -> np.ndarray:
    """Random bytes; the formats with scales in them may then hold NaN, which must come through as NaN."""
    values, size = GGML_QUANT_SIZES[kind]
    return np.random.default_rng(int(kind)).integers(0, 256, (num_rows, num_values // values * size), np.uint8)


def write(path: Path, tensors: dict[str, tuple[GGMLQuantizationType, np.ndarray]]) -> Path:
    writer = GGUFWriter(path, "llama")
    for name, (kind, rows) in tensors.items():
        writer.add_tensor(name, rows, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_floats(path: Path, **tensors: np.ndarray) -> Path:
    writer = GGUFWriter(path, "llama")
    for name, array in tensors.items():
        writer.add_tensor(name, array.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def reader_of(file: GgufFile, dtype: torch.dtype = torch.float32) -> WeightReader:
    return WeightReader(file, dtype, CPU, lambda *_: None)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", READABLE)
def test_every_format_becomes_the_numbers_of_the_gguf_package(tmp_path: Path, name: str) -> None:
    kind = GGMLQuantizationType[name]
    rows = random_rows(kind, 3, 512)
    with GgufFile(write(tmp_path / "t.gguf", {"t": (kind, rows)})) as file:
        read = reader_of(file).matrix([("t", 3)], 512).numpy()
    assert np.array_equal(read, quants.dequantize(rows, kind).reshape(3, 512), equal_nan=True)


def test_a_format_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    kind = GGMLQuantizationType.Q8_1
    with (
        GgufFile(write(tmp_path / "t.gguf", {"t": (kind, random_rows(kind, 2, 64))})) as file,
        pytest.raises(ModelFileError, match="Q8_1"),
    ):
        reader_of(file).matrix([("t", 2)], 64)


def test_matrices_of_one_input_are_stacked(tmp_path: Path) -> None:
    first, second = np.arange(8.0).reshape(2, 4), -np.arange(12.0).reshape(3, 4)
    with GgufFile(write_floats(tmp_path / "t.gguf", a=first, b=second)) as file:
        stacked = reader_of(file).matrix([("a", 2), ("b", 3)], 4)
    assert stacked.tolist() == [*first.tolist(), *second.tolist()]


def test_rows_are_reordered_as_asked(tmp_path: Path) -> None:
    with GgufFile(write_floats(tmp_path / "t.gguf", a=np.arange(8.0).reshape(4, 2))) as file:
        read = reader_of(file).matrix([("a", 4)], 2, [lambda rows: rows[::-1].copy()])
    assert read.tolist() == [[6, 7], [4, 5], [2, 3], [0, 1]]


def test_a_tensor_larger_than_a_slab_is_read_whole(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((3, 3 << 20), dtype=np.float32)
    with GgufFile(write_floats(tmp_path / "t.gguf", a=values)) as file:
        assert np.array_equal(reader_of(file).matrix([("a", 3)], 3 << 20).numpy(), values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_matrices_get_the_wanted_format(tmp_path: Path, dtype: torch.dtype) -> None:
    with GgufFile(write_floats(tmp_path / "t.gguf", a=np.array([[0.1, 0.2]]))) as file:
        assert torch.equal(reader_of(file, dtype).matrix([("a", 1)], 2), torch.tensor([[0.1, 0.2]]).to(dtype))


def test_progress_ends_at_the_bytes_of_the_file(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with GgufFile(write_floats(tmp_path / "t.gguf", a=np.zeros((4, 8)), b=np.zeros(8))) as file:
        reader = WeightReader(file, torch.float32, CPU, lambda done, total: calls.append((done, total)))
        reader.matrix([("a", 4)], 8)
        reader.vector("b", 8)
    assert calls == [(128, 160), (160, 160)]


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    with (
        GgufFile(write_floats(tmp_path / "t.gguf", a=np.zeros(8))) as file,
        pytest.raises(ModelFileError, match="absent"),
    ):
        reader_of(file).vector("absent", 8)


def test_a_wrong_shape_names_both(tmp_path: Path) -> None:
    with (
        GgufFile(write_floats(tmp_path / "t.gguf", a=np.zeros((4, 8)))) as file,
        pytest.raises(ModelFileError, match=r"\(4, 8\), expected is \(5, 8\)"),
    ):
        reader_of(file).matrix([("a", 5)], 8)


def test_a_tensor_that_nobody_read_is_known(tmp_path: Path) -> None:
    with GgufFile(write_floats(tmp_path / "t.gguf", a=np.zeros(8), b=np.zeros(8))) as file:
        reader = reader_of(file)
        reader.vector("a", 8)
        assert reader.unread_names() == ["b"]
