"""The built wheel: our two packages and the resources, and nothing at the top level that could hide another package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_holds_our_packages_and_the_resources(wheel_names):
    assert {
        "pagedesk/__main__.py",
        "pagedesk_kernels/reference.py",
        "pagedesk/_resources/themes/tokens.json",
    } <= wheel_names


def test_the_wheel_has_no_other_top_level_names(wheel_names):
    top = {name.split("/")[0] for name in wheel_names}

    assert {name for name in top if not name.endswith(".dist-info")} == {"pagedesk", "pagedesk_kernels"}
