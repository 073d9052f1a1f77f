"""Child processes for Triton: one that interprets kernels on the CPU, two that compile them for cards.

Contract: `TRITON_INTERPRET` must be set before Triton is first imported, and a driver is global to Triton; so neither
is done in the process of the tests, and both kinds live side by side in one run.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch


def interpreter_process(cache_dir: Path) -> ProcessPoolExecutor:
    """Make a process whose kernels run on the CPU; in it, what is allocated without a value holds NaN."""
    return _processes(1, become_interpreter, cache_dir)


def compiler_processes(cache_dir: Path) -> ProcessPoolExecutor:
    """Make two processes that compile kernels for cards that are not there."""
    return _processes(2, become_compiler, cache_dir)


def _processes(count: int, initializer: object, cache_dir: Path) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, context, initializer=initializer, initargs=(str(cache_dir),))


def become_compiler(cache_dir: str) -> None:
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ["TRITON_CACHE_DIR"] = cache_dir


def become_interpreter(cache_dir: str) -> None:
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["TRITON_CACHE_DIR"] = cache_dir
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    _teach_bfloat16_products()
    warnings.simplefilter("error")


def _teach_bfloat16_products() -> None:
    """Let `tl.dot` widen bfloat16: the interpreter of Triton 3.7 multiplies the integers that hold its bits."""
    # Here and not above: Triton reads TRITON_INTERPRET when it is first imported.
    from triton import language as tl  # noqa: PLC0415
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle  # noqa: PLC0415

    narrow_dot = InterpreterBuilder.create_dot

    def widen(builder: InterpreterBuilder, operand: TensorHandle) -> TensorHandle:
        return builder.cast_impl(operand, tl.float32) if operand.dtype.scalar == tl.bfloat16 else operand

    def create_dot(builder: InterpreterBuilder, a: TensorHandle, b: TensorHandle, *rest: object) -> TensorHandle:
        return narrow_dot(builder, widen(builder, a), widen(builder, b), *rest)

    InterpreterBuilder.create_dot = create_dot
