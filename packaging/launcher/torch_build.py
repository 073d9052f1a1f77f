"""Which build of torch this machine gets, and the ways to come by it."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

TORCH_VERSION = "2.13.0"
MIN_DRIVER = 580
"""CUDA 13, which the builds are made for, needs this NVIDIA driver or a newer one."""


@dataclass(frozen=True, slots=True)
class Driver:
    """An NVIDIA driver; `major` is None if it does not tell its version."""

    major: int | None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to install torch.

    Attributes:
        lock: The lock file that pip installs.
        uv_backend: First let uv find torch itself for this backend: it knows where, pip would have to be told.
        remark: What to say when this way is taken.
    """

    lock: str
    uv_backend: str | None = None
    remark: str = ""


def find_driver() -> Driver | None:
    """The NVIDIA driver, asked by nvidia-smi or found as a library; None if there is none."""
    return _ask_nvidia_smi() or _load_library()


def _ask_nvidia_smi() -> Driver | None:
    program = shutil.which("nvidia-smi")
    if not program:
        return None
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True, errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    return driver_of(done.stdout)


def driver_of(output: str) -> Driver | None:
    """The driver from what nvidia-smi printed; None if it printed no line for a card."""
    lines = output.split()
    if not lines:
        return None
    match = re.fullmatch(r"(\d{3,4})\.[\d.]+", lines[0])
    return Driver(int(match[1]) if match else None)


def _load_library() -> Driver | None:
    names = ["nvml.dll", "nvcuda.dll"] if sys.platform == "win32" else ["libnvidia-ml.so.1", "libcuda.so.1"]
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return Driver(None)
    return None


def choose(driver: Driver | None) -> tuple[str, str]:
    """The build for a machine with this driver, and the sentence that says why."""
    if driver is None:
        return "cpu", "no NVIDIA driver found: the CPU build of torch (--torch cuda overrides)"
    if driver.major is not None and driver.major < MIN_DRIVER:
        return "cpu", (
            f"the NVIDIA driver is {driver.major}, CUDA 13 needs {MIN_DRIVER}: the CPU build of torch for now; "
            "update the driver, then start once with --torch cuda"
        )
    return "cuda", "NVIDIA driver found: the CUDA build of torch (--torch cpu overrides)"


def ways(torch: str, platform: str = sys.platform) -> list[Way]:
    """The ways to install a build, the best first.

    Linux has its CPU build, and Windows its CUDA build, under a version with a local part, which pip finds only
    where its configuration offers that; uv knows where to look; the last way is the build that is everywhere.
    """
    lock = f"torch-{torch}"
    if (torch, platform) == ("cpu", "linux"):
        remark = "the small CPU build is out of reach: taking the CUDA build, which is large and runs on a CPU too"
        return [Way(lock), Way(lock, "cpu"), Way("torch-cuda", remark=remark)]
    if (torch, platform) == ("cuda", "win32"):
        remark = "the CUDA build is out of reach: taking the CPU build, PageDesk will be slow"
        return [Way(lock), Way(lock, "cu130"), Way("torch-cpu", remark=remark)]
    return [Way(lock)]
