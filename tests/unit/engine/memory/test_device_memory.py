"""What a device is asked for its memory."""

from __future__ import annotations

import torch

from pagedesk.engine.memory.device_memory import give_back_unused, probe_memory


def test_the_machine_tells_its_own_memory() -> None:
    memory = probe_memory(torch.device("cpu"))
    assert memory.is_host
    assert 0 < memory.free_bytes <= memory.total_bytes


def test_a_computer_without_a_card_can_be_told_to_take_memory_back():
    give_back_unused(torch.device("cpu"))
