"""What memory a device has and how much of it is free now. Any thread."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

import psutil
import torch


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """A device and its memory at one moment.

    Attributes:
        device_name: As a person knows it.
        total_bytes: Memory of the card, or of the machine.
        free_bytes: What could be taken now.
        is_host: It is the machine's own memory, which every other program lives in too.
    """

    device_name: str
    total_bytes: int
    free_bytes: int
    is_host: bool


def probe_memory(device: torch.device) -> DeviceMemory:
    """Ask the driver, or for a CPU the operating system."""
    if device.type == "cuda":
        free_bytes, total_bytes = torch.cuda.mem_get_info(device)
        return DeviceMemory(torch.cuda.get_device_name(device), total_bytes, free_bytes, is_host=False)
    memory = psutil.virtual_memory()
    name = torch.cpu.get_capabilities().get("cpu_name")
    return DeviceMemory(str(name or "CPU"), memory.total, memory.available, is_host=True)


def give_back_unused(device: torch.device) -> None:
    """Let the driver or the system have what is kept for later; not between steps, it waits for the device."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    _trim_heap()


def _trim_heap() -> None:
    """Let glibc give back what was freed in the middle of its heap: 220 MB after a model of 270 MB (measured)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
