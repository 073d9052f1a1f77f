from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from launcher.main import is_current
from launcher.places import Places
from launcher.stamp import APP, TEST, Stamp, read_stamp, stage_key, write_stamp

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes an environment by hand, as on POSIX")


@pytest.fixture
def places(tmp_path: Path, root: Path) -> Places:
    """A source tree with the real locks and an environment that was installed for the app and the tests."""
    shutil.copytree(root / "packaging" / "locks", tmp_path / "packaging" / "locks")
    places = Places(tmp_path)
    (places.venv / "bin").mkdir(parents=True)
    (places.venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    places.python.symlink_to(sys.executable)
    installed(places)
    return places


def installed(places: Places) -> None:
    keys = {stage: stage_key(places, stage, "cpu") for stage in (APP, TEST)}
    write_stamp(places, Stamp("cpu", keys, {APP: True, TEST: True}))


def change_lock(places: Places, name: str) -> None:
    with places.lock(name).open("a") as file:
        file.write("one-more==1.0\n")


def test_an_installed_environment_is_current(places: Places) -> None:
    assert is_current(places, APP, None)
    assert is_current(places, TEST, "cpu")


def test_another_build_of_torch_is_to_be_installed(places: Places) -> None:
    assert not is_current(places, APP, "cuda")


@pytest.mark.parametrize("name", ["pip", "runtime", "torch-cpu", "starter"])
def test_a_changed_lock_is_to_be_installed(places: Places, name: str) -> None:
    change_lock(places, name)

    assert not is_current(places, APP, None)
    assert not is_current(places, TEST, None)


def test_a_changed_lock_of_the_tools_concerns_the_tests_only(places: Places) -> None:
    change_lock(places, "dev")

    assert is_current(places, APP, None)
    assert not is_current(places, TEST, None)


def test_a_lock_of_the_other_build_concerns_nobody(places: Places) -> None:
    change_lock(places, "torch-cuda")

    assert is_current(places, APP, None)


def test_an_environment_whose_python_is_gone_is_not_current(places: Places) -> None:
    places.python.unlink()

    assert not is_current(places, APP, None)


def test_an_environment_whose_python_was_updated_is_not_current(places: Places) -> None:
    (places.venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.13.5\n")

    assert not is_current(places, APP, None)


def test_a_system_that_lacked_packages_is_asked_again(places: Places) -> None:
    stamp = read_stamp(places)
    stamp.has_system_packages[APP] = False
    write_stamp(places, stamp)

    assert not is_current(places, APP, None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"torch": "cpu", "of_another_version": 1}'])
def test_a_stamp_that_cannot_be_read_is_none(places: Places, text: str) -> None:
    places.stamp.write_text(text)

    assert read_stamp(places) == Stamp()
    assert not is_current(places, APP, None)
