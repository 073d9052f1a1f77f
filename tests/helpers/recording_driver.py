"""A Triton driver without a card: launchers run as they are, every program is compiled for a named card and kept.

Contract: set in a process of its own (a driver is global to Triton); nothing is ever computed.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget

SHARED_LIMIT_BYTES = {75: 64 * 1024, 80: 163 * 1024, 86: 99 * 1024, 89: 99 * 1024, 90: 227 * 1024, 120: 99 * 1024}
"""Shared memory that one program may take, by compute capability (CUDA programming guide, technical specifications)."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled kernel, as far as the machine code tells.

    Attributes:
        name: The kernel's name.
        registers: Registers of a thread.
        stack_bytes: Local memory of a thread: what was spilled, or an array that was not kept in registers.
        shared_bytes: Shared memory of a program.
        load_bits: Widths of the loads from global memory, direct and to shared memory, one entry an instruction.
        store_bits: Widths of the stores to global memory.
        spill_instructions: Loads from and stores to local memory.
        uses_tensor_cores: Whether there is a matrix instruction.
    """

    name: str
    registers: int
    stack_bytes: int
    shared_bytes: int
    load_bits: tuple[int, ...]
    store_bits: tuple[int, ...]
    spill_instructions: int
    uses_tensor_cores: bool

    @property
    def wide_loads(self) -> int:
        """Load instructions of 128 bits a thread, the widest there are."""
        return self.load_bits.count(128)

    @property
    def narrow_loads(self) -> int:
        """Load instructions of fewer bits."""
        return len(self.load_bits) - self.wide_loads


class RecordingDriver:
    """Stands where Triton's CUDA driver would; `programs` grows with each program that is first launched.

    Every driver is a device of its own, so that Triton keeps nothing that it compiled for another.
    """

    _num_devices = itertools.count()

    def __init__(self, capability: int) -> None:
        self.capability = capability
        self.device = next(self._num_devices)
        self.programs: list[Program] = []
        self.utils = self
        self.launcher_cls = lambda _source, _metadata: lambda *_arguments: None

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return self.device

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_device_properties(self, _device: int) -> dict[str, int]:
        return {"max_shared_mem": SHARED_LIMIT_BYTES[self.capability]}

    def load_binary(self, name: str, cubin: bytes, shared: int, _device: int) -> tuple[Any, ...]:
        program = inspect(name, cubin, shared)
        self.programs.append(program)
        return object(), object(), program.registers, program.stack_bytes, 1024


def inspect(name: str, cubin: bytes, shared_bytes: int) -> Program:
    """Read resources and instructions of a kernel from its machine code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        usage = _run(knobs.nvidia.cuobjdump.path, "-res-usage", path)
        code = _run(knobs.nvidia.nvdisasm.path, "-c", path)
    resources = {key: int(value) for key, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", usage)}
    return Program(
        name=name,
        registers=resources["REG"],
        stack_bytes=resources["STACK"] + resources["LOCAL"],
        shared_bytes=shared_bytes,
        load_bits=_widths(code, r"LDG|LDGSTS"),
        store_bits=_widths(code, r"STG"),
        spill_instructions=len(re.findall(r"\b(?:LDL|STL)\b", code)),
        uses_tensor_cores=bool(re.search(r"\b(?:HMMA|HGMMA|IMMA)\b", code)),
    )


def _widths(code: str, mnemonics: str) -> tuple[int, ...]:
    """Bits that each instruction moves for a thread; without a size in its name it is 32."""
    found = re.findall(rf"\b(?:{mnemonics})((?:\.\w+)*) ", code)
    sizes = [re.search(r"\.(?:[US])?(8|16|64|128)\b", modifiers) for modifiers in found]
    return tuple(int(size.group(1)) if size else 32 for size in sizes)


def _run(tool: str, *arguments: object) -> str:
    return subprocess.run([tool, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
