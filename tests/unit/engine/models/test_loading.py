"""A load ends in a decoder or in a sentence, whatever happens to the file meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.models.loading import load_decoder
from tests.helpers.tiny_gguf import write_tiny_gguf


def test_a_file_that_is_written_to_during_a_load_is_refused(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")

    def touch(stage: str, _done: int, _total: int) -> None:
        if stage == "weights":
            os.utime(path, (0, 0))

    with pytest.raises(ModelFileError, match=r"tiny.gguf changed while it was read"):
        load_decoder(EngineConfig(model_path=path, num_blocks=8), touch)
