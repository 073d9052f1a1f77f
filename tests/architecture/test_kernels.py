"""The rule of the kernels' room: a launcher a file, a twin of the same name and a test file for each."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pagedesk_kernels
from pagedesk_kernels import reference

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pagedesk_kernels.__file__).parent
KERNELS = sorted(path.stem for path in PACKAGE.glob("*.py") if "@triton.jit" in path.read_text(encoding="utf-8"))


def _parameters(function: object) -> list[tuple[str, object]]:
    """Positional parameters; what a launcher takes by keyword alone is about speed and no part of the meaning."""
    assert callable(function)
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.annotation) for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]


def test_there_are_kernels_to_check() -> None:
    assert {"store_kv", "paged_attention_decode"} <= set(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_a_launcher_and_its_twin_mean_the_same_arguments(name: str) -> None:
    launcher = getattr(__import__(f"pagedesk_kernels.{name}", fromlist=[name]), name)
    assert _parameters(launcher) == _parameters(getattr(reference, name))


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_a_test_file_of_its_name(name: str) -> None:
    assert (ROOT / "tests" / "kernels" / f"test_{name}.py").is_file()


@pytest.mark.parametrize("module", ["pagedesk_kernels", "pagedesk_kernels.reference", "pagedesk_kernels.decode_tiling"])
def test_what_runs_without_a_card_imports_no_triton(module: str) -> None:
    code = f"import sys, {module}; sys.exit('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=_environment(), check=False)
    assert done.returncode == 0


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(PACKAGE.parent), "PATH": ""}
