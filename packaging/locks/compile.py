"""Writes the lock files anew: `python packaging/locks/compile.py`, with the program `uv` on the path.

One resolution of pyproject.toml for Linux and Windows and every Python from 3.11 on is split in two: what belongs to
the CUDA build of torch, and the rest, which every build shares. The other locks are resolved against it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

LOCKS = Path(__file__).resolve().parent
PYPROJECT = LOCKS.parent.parent / "pyproject.toml"
TORCH = "2.13.0"
OF_TORCH = re.compile(r"(torch|triton|nvidia-(?!ml-py)|cuda-)")
HEADER = "# Written by compile.py; exact versions of everything, also of what is only needed by others.\n"

CPU_BUILD = [f"torch=={TORCH}+cpu ; sys_platform == 'linux'", f"torch=={TORCH} ; sys_platform != 'linux'"]
# `===` keeps pip from taking a CPU build of the same version that its configuration may offer.
CUDA_BUILD = [f"torch==={TORCH} ; sys_platform == 'linux'", f"torch=={TORCH}+cu130 ; sys_platform == 'win32'"]
TRITON_WINDOWS = "triton-windows==3.7.0.post26 ; sys_platform == 'win32'"


def main() -> None:
    """Write every lock."""
    lines = resolved([f"torch=={TORCH}"], str(PYPROJECT))
    runtime = [line for line in lines if not OF_TORCH.match(line)]
    libraries = [line for line in lines if OF_TORCH.match(line) and not line.startswith("torch==")]
    write("runtime", runtime)
    write("torch-cpu", CPU_BUILD)
    write("torch-cuda", [*CUDA_BUILD, *libraries, TRITON_WINDOWS])
    write("dev", resolved(lines, str(LOCKS / "dev.in")))
    write("pip", resolved([], "-", stdin="pip"))
    write("uv", resolved([], "-", stdin="uv"))


def resolved(constraints: list[str], source: str, stdin: str = "") -> list[str]:
    """The lines that uv resolves a source to, under constraints."""
    constraints_file = LOCKS / "constraints.tmp"
    constraints_file.write_text("\n".join(constraints), encoding="utf-8")
    command = ["uv", "pip", "compile", "--universal", "--python-version", "3.11", "--no-header", "--no-annotate"]
    try:
        done = subprocess.run(
            [*command, "--constraint", str(constraints_file), source],
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        constraints_file.unlink()
    return [line for line in done.stdout.splitlines() if line and "sys_platform == 'emscripten'" not in line]


def write(name: str, lines: list[str]) -> None:
    """Write one lock."""
    (LOCKS / f"{name}.txt").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
