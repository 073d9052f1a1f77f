"""What tests share that compute with a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from pagedesk.engine import engine as engine_module
from pagedesk.engine.thread import EngineThread
from tests.helpers.loader import Loader
from tests.helpers.recorder import Recorder


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other crawl where other programs want the same cores."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    loader = Loader()
    monkeypatch.setattr(engine_module, "load_engine", loader)
    monkeypatch.setattr(engine_module, "check_engine", loader.check)
    return loader


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def thread(recorder: Recorder, loader: Loader) -> Iterator[EngineThread]:  # noqa: ARG001 - must stand before the thread
    thread = EngineThread(recorder.publish)
    thread.start()
    yield thread
    assert thread.stop(30)
