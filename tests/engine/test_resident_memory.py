"""What the process holds does not grow: not with models that come and go, not with what was ever asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import ROOT
from tests.helpers.starter import starter_model
from tests.helpers.tiny_gguf import write_tiny_gguf

pytestmark = pytest.mark.soak

MIB = 2**20
WARM_UP = 60
"""Twice each length of a prompt."""


@pytest.fixture(params=["tiny", "starter"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_tiny_gguf(tmp_path / "tiny.gguf") if request.param == "tiny" else starter_model()


def resident_bytes(*arguments: str) -> list[int]:
    """What `tests.helpers.resident_memory` measures, on one thread."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "kernels")])}
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.resident_memory", *arguments],
        check=True,
        env=environment | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=590,
    )
    return [int(number) for number in json.loads(done.stdout)]


def test_ten_loads_and_unloads_leave_what_the_first_one_left(model: Path) -> None:
    first, *others = resident_bytes("loads", str(model), "10")
    assert max(others) - first <= 20 * MIB


def test_five_hundred_different_prompts_leave_what_the_first_ones_left(model: Path) -> None:
    measured = resident_bytes("prompts", str(model), "500")
    assert max(measured[WARM_UP:]) <= 1.02 * measured[WARM_UP - 1]
