"""Fixtures that run a function where Triton interprets or compiles; the function must be importable by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

import pytest

from tests.helpers.compiled_kernels import CASES, CompileCase, compile_case
from tests.helpers.kernel_processes import compiler_processes, interpreter_process
from tests.helpers.recording_driver import Program


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessPoolExecutor]:
    with interpreter_process(tmp_path_factory.mktemp("interpreter")) as process:
        yield process


@pytest.fixture
def interpreted(interpreter: ProcessPoolExecutor) -> Callable[..., None]:
    """Call a function in the interpreter's process; what fails there fails here, with its traceback."""

    def call(function: Callable[..., None], *arguments: object) -> None:
        interpreter.submit(function, *arguments).result()

    return call


@pytest.fixture(scope="session")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessPoolExecutor]:
    processes = compiler_processes(tmp_path_factory.mktemp("compiler"))
    yield processes
    processes.shutdown(cancel_futures=True)


@pytest.fixture(scope="session")
def compiled(compilers: ProcessPoolExecutor) -> dict[CompileCase, Future[dict[str, Program]]]:
    """The compilations of a session, started all at once and waited for one by one."""
    return {case: compilers.submit(compile_case, case) for case in CASES}
