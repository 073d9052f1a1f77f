from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from pagedesk.system import paths
from pagedesk.system.errors import UserError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "デスク 🗂 home"
    monkeypatch.setenv(paths.HOME_VARIABLE, str(home))
    return home


def test_one_variable_moves_every_folder(home: Path) -> None:
    assert {paths.data_dir(), paths.log_dir()} == {home / "data", home / "logs"}
    assert paths.database_path().parent == home / "data"


def test_folders_exist_when_they_are_asked_for() -> None:
    assert all(folder.is_dir() for folder in (paths.data_dir(), paths.log_dir()))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file modes")
def test_folders_are_for_their_owner_only() -> None:
    assert stat.S_IMODE(paths.data_dir().stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="the names of Linux")
def test_without_the_variable_the_system_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))

    assert paths.database_path() == tmp_path / "share" / "pagedesk" / "chats.sqlite3"


@pytest.mark.skipif(sys.platform == "win32", reason="the users and links of Unix")
@pytest.mark.parametrize("name", ["~no-such-user/x", "circle"])
def test_a_folder_that_cannot_be_found_gives_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    monkeypatch.setenv(paths.HOME_VARIABLE, name if name.startswith("~") else str(tmp_path / name))

    with pytest.raises(UserError) as caught:
        paths.data_dir()

    assert paths.HOME_VARIABLE in caught.value.advice


def test_a_folder_that_cannot_be_made_gives_a_sentence(home: Path) -> None:
    home.write_text("a file is in the way")

    with pytest.raises(UserError, match="could not be made") as caught:
        paths.data_dir()

    assert paths.HOME_VARIABLE in caught.value.advice
