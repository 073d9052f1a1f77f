"""What a device is asked for its memory."""

from __future__ import annotations

import torch

from pagedesk.engine.memory.device_memory import probe_memory


def test_the_machine_tells_its_own_memory() -> None:
    memory = probe_memory(torch.device("cpu"))
    assert memory.is_host
    assert 0 < memory.free_bytes <= memory.total_bytes
