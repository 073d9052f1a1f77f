from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from pagedesk.chats.store import ChatStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[ChatStore]:
    seconds = count(1_000_000)
    store = ChatStore(path, clock=lambda: float(next(seconds)))
    yield store
    store.close()
