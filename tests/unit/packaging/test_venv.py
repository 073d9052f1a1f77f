from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from launcher.places import Places, clean_environment
from launcher.venv import add_checkout, sweep, works


def record(site: Path, name: str, *, whole: bool) -> Path:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").touch()
    if whole:
        (folder / "INSTALLER").write_text("pip\n")
    return folder


def test_what_an_interrupted_pip_left_is_swept_away(tmp_path: Path) -> None:
    whole, half = record(tmp_path, "whole", whole=True), record(tmp_path, "half", whole=False)
    (tmp_path / "~orch").mkdir()
    (tmp_path / "~orch" / "file").touch()
    (tmp_path / "module.py").touch()

    sweep(tmp_path)

    assert whole.exists()
    assert not half.exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["module.py", whole.name]


def test_the_source_tree_is_found_by_relative_ascii_paths(tmp_path: Path) -> None:
    places = Places(tmp_path / "机 🗂 desk")
    site = places.venv / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)

    add_checkout(places, site)

    lines = (site / "pagedesk_checkout.pth").read_text(encoding="ascii").splitlines()
    assert [Path(os.path.normpath(site / line)) for line in lines] == [places.root, places.root / "kernels"]


@pytest.mark.skipif(sys.platform == "win32", reason="makes an environment by hand, as on POSIX")
def test_an_environment_with_half_of_pip_does_not_work(tmp_path: Path) -> None:
    places = Places(tmp_path)
    site = places.venv / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (places.venv / "bin").mkdir()
    places.python.symlink_to(sys.executable)
    record(site, "pip", whole=False)

    assert not works(places)


def test_the_program_gets_none_of_the_variables_that_misdirect_python_or_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    misdirecting = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "QT_PLUGIN_PATH")
    for name in (*misdirecting, "LANG"):
        monkeypatch.setenv(name, "C")

    environment = clean_environment()

    assert not environment.keys() & set(misdirecting)
    assert environment["LANG"] == "C"
