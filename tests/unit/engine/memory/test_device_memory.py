"""What a device is asked for its memory."""

from __future__ import annotations

import pytest
import torch

from pagedesk.engine.memory.device_memory import probe_memory


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """A card of 10 bytes, of which torch keeps 4 that nobody uses."""
    kept = [4]
    monkeypatch.setattr(torch.cuda, "empty_cache", kept.clear)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (10 - sum(kept), 10))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _device: "card")
    return torch.device("cuda")


def test_the_machine_tells_its_own_memory() -> None:
    memory = probe_memory(torch.device("cpu"))
    assert memory.is_host
    assert 0 < memory.free_bytes <= memory.total_bytes


def test_what_torch_keeps_of_a_load_that_was_given_up_counts_as_free(card: torch.device) -> None:
    assert probe_memory(card).free_bytes == 10
