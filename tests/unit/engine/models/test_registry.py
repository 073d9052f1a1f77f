"""Which architectures are computed."""

from __future__ import annotations

import pytest

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.models.registry import find_architecture


def test_llama_is_computed() -> None:
    assert find_architecture({"general.architecture": "llama"}).pairs_interleaved


def test_an_unknown_architecture_is_named_beside_those_that_are_computed() -> None:
    with pytest.raises(ModelFileError, match=r"'mamba'; PageDesk computes: gemma2, gemma3, llama\."):
        find_architecture({"general.architecture": "mamba"})


def test_a_file_without_an_architecture_is_refused() -> None:
    with pytest.raises(ModelFileError, match="does not name its architecture"):
        find_architecture({})
