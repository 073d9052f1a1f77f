"""What the machine has: processor, memory and NVIDIA cards, without torch and in a few milliseconds.

Any thread. What the machine does not tell is None, never an exception.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import psutil

from pagedesk.system.nvidia import GraphicsCard, probe_cards
from pagedesk.system.probing import or_none


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine at one moment; None where it does not tell.

    Attributes:
        num_cores: Physical cores.
        num_threads: What the system runs at once (hardware threads).
        ram_available_bytes: What programs can take without swapping.
        driver_version: Of the NVIDIA driver.
    """

    cpu_name: str
    num_cores: int | None
    num_threads: int | None
    ram_total_bytes: int | None
    ram_available_bytes: int | None
    cards: tuple[GraphicsCard, ...]
    driver_version: str | None


def probe_machine(nvml: ModuleType | None = None) -> Machine:
    """Look at this machine.

    Args:
        nvml: The module that speaks to the NVIDIA driver; by default `pynvml`.
    """
    cards, driver_version = probe_cards(nvml)
    return Machine(
        cpu_name=_cpu_name(),
        num_cores=or_none(lambda: psutil.cpu_count(logical=False)),
        num_threads=or_none(psutil.cpu_count),
        ram_total_bytes=or_none(lambda: int(psutil.virtual_memory().total)),
        ram_available_bytes=or_none(lambda: int(psutil.virtual_memory().available)),
        cards=cards,
        driver_version=driver_version,
    )


def _cpu_name() -> str:
    reader = {"linux": _linux_cpu_name, "win32": _windows_cpu_name}.get(sys.platform, platform.processor)
    return or_none(reader) or platform.processor() or platform.machine()


def _linux_cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def _windows_cpu_name() -> str:
    winreg = import_module("winreg")
    path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
        return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
