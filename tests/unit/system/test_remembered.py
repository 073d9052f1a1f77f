"""What one start leaves for the next, and a file that is not as it should be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pagedesk.system.remembered import Remembered, read_remembered, write_remembered


@pytest.mark.parametrize("name", ["small.gguf", "日本 😀.gguf", os.fsdecode(b"odd\xff.gguf")])
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    remembered = Remembered(tmp_path / name, b"\x01\xff", 2)
    write_remembered(tmp_path / "window.json", remembered)
    assert read_remembered(tmp_path / "window.json") == remembered


def test_the_starter_model_is_none(tmp_path: Path) -> None:
    write_remembered(tmp_path / "window.json", Remembered(None, b"", 1))
    assert read_remembered(tmp_path / "window.json") == Remembered(None, b"", 1)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b"{}", b'{"model": "m", "geometry": 5, "pane_index": "x"}', b"[" * 100_000],
)
def test_a_damaged_file_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "window.json").write_bytes(content)
    assert read_remembered(tmp_path / "window.json") == Remembered()


def test_a_file_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    write_remembered(tmp_path / "gone" / "window.json", Remembered())
    assert read_remembered(tmp_path / "gone" / "window.json") == Remembered()
