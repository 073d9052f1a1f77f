from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "packaging"))


@pytest.fixture
def root() -> Path:
    return ROOT
