"""The GGUF reader: what it reads equals what the gguf package reads, and every broken file gets a sentence."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.gguf import GgufFile
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf

U32, STRING, ARRAY = 4, 8, 9


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def header(pairs: list[bytes], tensors: list[bytes], version: int = 3) -> bytes:
    counts = struct.pack("<IQQ", version, len(tensors), len(pairs))
    return b"GGUF" + counts + b"".join(pairs) + b"".join(tensors)


def pair(key: str, type_id: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", type_id) + value


def tensor(name: str, dims: tuple[int, ...], type_id: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, type_id, offset)


def refusal(path: Path) -> ModelFileError:
    with pytest.raises(ModelFileError) as caught, GgufFile(path):
        pass
    return caught.value


def refusal_of(data: bytes, folder: Path) -> str:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return refusal(path).cause


def test_metadata_equals_what_the_gguf_package_reads(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(metadata={"general.tags": ["a", "日本"], "x.y": -0.5}))
    expected = {key: field.contents() for key, field in GGUFReader(path).fields.items() if not key.startswith("GGUF.")}
    with GgufFile(path) as file:
        assert file.metadata == expected


def test_tensor_bytes_equal_what_the_gguf_package_reads(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    with GgufFile(path) as file:
        assert list(file.tensors) == [entry.name for entry in GGUFReader(path).tensors]
        for entry in GGUFReader(path).tensors:
            expected = np.frombuffer(entry.data.tobytes(), np.uint8)
            assert np.array_equal(file.rows(entry.name, 0, entry.n_elements).reshape(-1), expected)


def test_shapes_are_in_the_order_of_torch(tmp_path: Path) -> None:
    with GgufFile(write_tiny_gguf(tmp_path / "tiny.gguf")) as file:
        assert file.tensors["blk.0.ffn_up.weight"].shape == (128, 64)


@pytest.mark.parametrize("name", ["日本語の模型.gguf", "with two  spaces.gguf", "👨‍👩‍👧‍👦.gguf"])
def test_a_path_may_be_spelled_in_any_script(tmp_path: Path, name: str) -> None:
    with GgufFile(write_tiny_gguf(tmp_path / name)) as file:
        assert file.metadata["general.name"] == "Tiny"


def test_version_two_is_read_too(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    data = bytearray(path.read_bytes())
    data[4:8] = struct.pack("<I", 2)
    path.write_bytes(data)
    with GgufFile(path) as file:
        assert file.metadata["general.architecture"] == "llama"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no.gguf" in refusal(tmp_path / "no.gguf").cause


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"", "it is empty"),
        (b"PK\x03\x04" + bytes(60), "ZIP archive"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (struct.pack("<Q", 30) + b'{"__metadata__":{}}', "safetensors"),
        (b"FUGG" + bytes(60), "byte-swapped"),
        (b"\x01\x02hello world", "01 02 68 65 6c 6c 6f 20 ('..hello ')"),
    ],
)
def test_a_foreign_file_is_described_by_its_first_bytes(tmp_path: Path, start: bytes, said: str) -> None:
    assert said in refusal_of(start, tmp_path)


def test_a_truncated_file_says_how_many_bytes_are_missing(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    with GgufFile(path) as file:
        end = max(entry.offset + entry.num_bytes for entry in file.tensors.values())
    path.write_bytes(path.read_bytes()[: end - 1234])
    assert "1,234 of" in refusal(path).cause


def test_a_file_that_ends_inside_its_header_says_so(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:2000])
    assert "ends in the middle of its header" in refusal(path).cause


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header([], [], version=0x03000000), "big-endian"),
        (header([], [], version=1), "version 1"),
        (header([pair("a", U32, bytes(4))] * 2, []), "names the key 'a' twice"),
        (header([pair("a", 77, bytes(4))], []), "unknown kind 77"),
        (header([], [tensor("t", (32,)), tensor("t", (32,))]), "names the tensor 't' twice"),
        (header([], [tensor("t", (32,), type_id=31)]), "Q4_0_4_4, which was withdrawn"),
        (header([], [tensor("t", (32,), type_id=999)]), "unknown format number 999"),
        (header([], [tensor("t", (1, 2, 3, 4, 5))]), "5 dimensions"),
        (header([], [tensor("t", (33,), type_id=2)]), "impossible shape or place"),
        (header([], [tensor("t", (32, 0))]), "impossible shape or place"),
        (header([], [tensor("t", (32,), offset=5)]), "impossible shape or place"),
        (header([pair("general.alignment", U32, struct.pack("<I", 24))], []), "impossible alignment 24"),
        (header([pair("general.alignment", 7, b"\x01")], []), "impossible alignment True"),
    ],
)
def test_a_damaged_header_is_refused_with_the_reason(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in refusal_of(data, tmp_path)


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    with GgufFile(path) as file:
        os.truncate(path, 1000)
        with pytest.raises(ModelFileError, match=r"tiny.gguf changed while it was read"):
            file.rows("token_embd.weight", 0, 1)


def test_a_file_that_is_written_to_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    with GgufFile(path) as file:
        file.refuse_changed()
        os.utime(path, (0, 0))
        with pytest.raises(ModelFileError, match="changed while it was read"):
            file.refuse_changed()


def test_a_header_longer_than_one_read_is_read_whole(tmp_path: Path) -> None:
    words = ["word" * (number % 1000) for number in range(2000)]
    path = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(metadata={"general.tags": words}))
    with GgufFile(path) as file:
        assert file.metadata["general.tags"] == words


HUGE = (1 << 62) - 1


@pytest.mark.parametrize(
    "data",
    [
        b"GGUF" + struct.pack("<IQQ", 3, 0, HUGE),
        b"GGUF" + struct.pack("<IQQ", 3, HUGE, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", HUGE),
        header([pair("a", STRING, struct.pack("<Q", HUGE))], []),
        header([pair("a", ARRAY, struct.pack("<IQ", U32, HUGE))], []),
        header([pair("a", ARRAY, struct.pack("<IQ", STRING, 1 << 20))], []),
        header([pair("a", ARRAY, struct.pack("<IQ", ARRAY, 1) * 50)], []),
        header([], [tensor("t", (1 << 40, 1 << 40))]),
    ],
    ids=["pairs", "tensors", "key", "string", "numbers", "strings", "nested", "tensor"],
)
def test_a_hostile_size_is_refused_before_anything_is_allocated(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "hostile.gguf"
    path.write_bytes(data + bytes(64))
    assert refusal(path).advice


@pytest.fixture(scope="module")
def tiny_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf").read_bytes()


@pytest.fixture(scope="module")
def write_scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    path = tmp_path_factory.mktemp("scratch") / "scratch.gguf"

    def write(data: bytes) -> Path:
        path.write_bytes(data)
        return path

    return write


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(4, 12000), byte=st.integers(0, 255), cut=st.integers(8, 200_000))
def test_a_file_with_a_wrong_byte_and_a_wrong_end_is_read_or_refused(
    tiny_bytes: bytes, write_scratch: Callable[[bytes], Path], place: int, byte: int, cut: int
) -> None:
    damaged = bytearray(tiny_bytes[:cut])
    damaged[min(place, len(damaged) - 1)] = byte
    path = write_scratch(bytes(damaged))
    with suppress(ModelFileError), GgufFile(path) as file:
        assert file.num_bytes == len(damaged)
