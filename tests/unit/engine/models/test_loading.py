"""A load ends in a decoder or in a sentence, whatever happens to the file meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import ModelFileError, OutOfBudgetError
from pagedesk.engine.models.loading import check_model, load_decoder
from pagedesk.engine.weights.gguf import GgufFile
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf


def test_a_file_that_is_written_to_during_a_load_is_refused(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")

    def touch(stage: str, _done: int, _total: int) -> None:
        if stage == "weights":
            os.utime(path, (0, 0))

    with pytest.raises(ModelFileError, match=r"tiny.gguf changed while it was read"):
        load_decoder(EngineConfig(model_path=path, num_blocks=8), touch)


def config(path: Path, **limits: int) -> EngineConfig:
    return EngineConfig(model_path=path, **{"num_blocks": 8} | limits)


def test_a_check_passes_what_loads_and_reads_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(tied=False))
    monkeypatch.setattr(GgufFile, "rows", lambda *_: pytest.fail("weights were read"))
    assert check_model(config(path))["general.name"] == "Tiny"


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (TinyModel(metadata={"general.architecture": "unheard-of"}), "unheard-of"),
        (TinyModel(tensors={"blk.1.ffn_up.weight": None}), "lacks the tensor blk.1.ffn_up.weight"),
        (TinyModel(tensors={"output_norm.weight": np.ones(7, np.float32)}), "gives the tensor output_norm.weight"),
        (TinyModel(tensors={"extra.weight": np.ones(7, np.float32)}), "does not compute with yet: extra.weight"),
    ],
)
def test_a_check_finds_what_the_table_of_tensors_tells(tmp_path: Path, model: TinyModel, cause: str) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf", model)
    with pytest.raises(ModelFileError, match=cause):
        check_model(config(path))


def test_a_check_finds_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    os.truncate(path, path.stat().st_size - 100)
    with pytest.raises(ModelFileError, match="is cut off"):
        check_model(config(path))


def test_a_check_finds_a_model_that_the_whole_machine_could_not_hold(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    with pytest.raises(OutOfBudgetError):
        check_model(config(path, num_blocks=10**9))
