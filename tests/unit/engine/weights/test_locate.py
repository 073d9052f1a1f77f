"""What a path means."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.weights.locate import find_model_file, refuse_split_file


def refusal(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        find_model_file(path)
    return caught.value.cause


def test_a_file_means_itself(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.touch()
    assert find_model_file(path) == path


def test_a_folder_means_its_only_gguf_file(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    (tmp_path / "Model.GGUF").touch()
    assert find_model_file(tmp_path) == tmp_path / "Model.GGUF"


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    assert "nowhere" in refusal(tmp_path / "nowhere")


def test_a_path_that_no_disk_can_have_is_refused(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(tmp_path / ("x" * 5000))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.gguf")
    assert "neither a file nor a folder" in refusal(tmp_path / "model.gguf")


def test_a_device_is_refused() -> None:
    assert "neither a file nor a folder" in refusal(Path(os.devnull))


def test_a_folder_without_a_name_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"The folder {tmp_path.name} holds" in refusal(Path())
    assert f"The folder {tmp_path.anchor} holds" in refusal(Path(tmp_path.anchor))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    assert "holds no GGUF file" in refusal(tmp_path)


def test_a_folder_of_safetensors_is_refused_as_not_yet(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    assert "safetensors files, which PageDesk cannot open yet" in refusal(tmp_path)


def test_a_folder_of_several_models_names_them(tmp_path: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).touch()
    assert "2 GGUF files (a.gguf, b.gguf)" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("name", "metadata"), [("m-00001-of-00003.gguf", {}), ("m.gguf", {"split.count": 3})], ids=["name", "metadata"]
)
def test_a_part_of_a_split_model_is_refused(name: str, metadata: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match="one part of a model"):
        refuse_split_file(Path(name), metadata)


def test_a_whole_model_is_not_refused() -> None:
    refuse_split_file(Path("m-1-of-2.gguf"), {"split.count": 1})
