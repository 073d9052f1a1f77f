"""What is compiled ahead of time: cards, models' shapes and what their programs turn into.

Run as a module it prints the table of `kernels/README.md`.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import triton

from pagedesk_kernels.decode_tiling import Card
from pagedesk_kernels.paged_attention_decode import paged_attention_decode
from pagedesk_kernels.store_kv import store_kv
from tests.helpers.kernel_processes import become_compiler
from tests.helpers.recording_driver import Program, RecordingDriver

CAPABILITIES = (75, 80, 86, 89, 90, 120)


@dataclass(frozen=True, slots=True)
class Shape:
    """Attention as a model has it.

    Attributes:
        num_heads: Query heads.
        num_kv_heads: Heads of the cache.
        head_size: Elements of a head.
        dtype: Of queries and cache.
    """

    num_heads: int
    num_kv_heads: int
    head_size: int
    dtype: torch.dtype

    def __str__(self) -> str:
        kind = str(self.dtype).removeprefix("torch.")
        return f"{self.num_heads}/{self.num_kv_heads} heads of {self.head_size}, {kind}"


MAIN_SHAPES = (
    Shape(32, 8, 128, torch.float16),
    Shape(9, 3, 64, torch.bfloat16),
    Shape(8, 8, 128, torch.float16),
)
"""Llama 3.1 8B, SmolLM2 135M and a model without grouped heads: compiled for every card."""

RARE_SHAPES = (
    Shape(64, 8, 128, torch.bfloat16),
    Shape(16, 8, 256, torch.bfloat16),
    Shape(32, 32, 80, torch.float16),
    Shape(32, 8, 96, torch.float16),
    Shape(9, 3, 64, torch.float32),
)
"""Compiled for one card of each of the two assemblers, to keep the tests short."""

RARE_CAPABILITIES = (86, 120)


@dataclass(frozen=True, slots=True)
class CompileCase:
    """One shape on one card."""

    capability: int
    shape: Shape

    def __str__(self) -> str:
        return f"sm_{self.capability}, {self.shape}"


CASES = (
    *(CompileCase(capability, shape) for capability in CAPABILITIES for shape in MAIN_SHAPES),
    *(CompileCase(capability, shape) for capability in RARE_CAPABILITIES for shape in RARE_SHAPES),
)


def compile_case(case: CompileCase) -> dict[str, Program]:
    """Run the launchers as they are on a card that is not there, and return what was compiled, by kernel."""
    driver = RecordingDriver(case.capability)
    triton.runtime.driver.set_active(driver)
    shape, num_tokens = case.shape, 4
    cache = torch.empty((8, 3, 2, 16, shape.num_kv_heads, shape.head_size), dtype=shape.dtype)
    heads = shape.num_heads + 2 * shape.num_kv_heads
    projection = torch.empty((num_tokens, heads, shape.head_size), dtype=shape.dtype)
    queries, keys, values = projection.split([shape.num_heads, shape.num_kv_heads, shape.num_kv_heads], dim=1)
    store_kv(keys, values, cache[:, 1, 0], cache[:, 1, 1], torch.zeros(num_tokens, dtype=torch.int64))
    tables = torch.zeros((num_tokens, 5), dtype=torch.int32)
    lengths = torch.ones(num_tokens, dtype=torch.int32)
    card = Card(case.capability, num_multiprocessors=60)
    for num_splits in (1, 16):
        arguments = (queries, cache[:, 1, 0], cache[:, 1, 1], tables, lengths, 0.125)
        paged_attention_decode(*arguments, num_splits=num_splits, card=card)
    return _by_kernel(driver.programs)


def _by_kernel(programs: list[Program]) -> dict[str, Program]:
    """Name the two programs of the decode kernel apart: the whole sequence, then one of many splits."""
    store, whole, split, merge = programs
    assert (store.name, whole.name, merge.name) == ("_store_kv_kernel", split.name, "_merge_kernel")
    return {"store_kv": store, "decode, whole": whole, "decode, split": split, "decode, merge": merge}


def _table() -> str:
    """A row a shape and kernel, a column a card: registers, shared bytes, loads of 128 bits and of fewer."""
    heading = ["heads, dtype", "kernel", *(f"sm_{capability}" for capability in CAPABILITIES)]
    lines = [_line(heading), _line(["---"] * len(heading))]
    for shape in (*MAIN_SHAPES, *RARE_SHAPES):
        compiled = {case.capability: compile_case(case) for case in CASES if case.shape == shape}
        for kernel in compiled[RARE_CAPABILITIES[0]]:
            cells = [_cell(compiled[each][kernel]) if each in compiled else "" for each in CAPABILITIES]
            lines.append(_line([str(shape), kernel, *cells]))
    return "\n".join(lines)


def _cell(program: Program) -> str:
    return f"{program.registers}, {program.shared_bytes}, {program.wide_loads}+{program.narrow_loads}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        become_compiler(str(Path(folder)))
        sys.stdout.write(_table() + "\n")
