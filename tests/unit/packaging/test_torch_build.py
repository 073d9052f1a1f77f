from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from launcher.torch_build import Driver, choose, driver_of, ways


def locked(root: Path, name: str) -> list[str]:
    text = (root / "packaging" / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("580.65.06\n580.65.06\n", Driver(580)),
        ("560.76", Driver(560)),
        ("[N/A]", Driver(None)),
        ("", None),
    ],
)
def test_the_driver_is_read_from_what_nvidia_smi_prints(output: str, expected: Driver | None) -> None:
    assert driver_of(output) == expected


@pytest.mark.parametrize(
    ("driver", "expected"),
    [(None, "cpu"), (Driver(None), "cuda"), (Driver(580), "cuda"), (Driver(610), "cuda"), (Driver(579), "cpu")],
)
def test_a_machine_with_a_driver_for_cuda_13_gets_the_cuda_build(driver: Driver | None, expected: str) -> None:
    assert choose(driver)[0] == expected


def test_an_old_driver_is_named_with_the_one_that_is_needed() -> None:
    _, reason = choose(Driver(535))

    assert "535" in reason
    assert "580" in reason


@pytest.mark.parametrize(
    ("build", "platform", "locks"),
    [
        ("cpu", "linux", ["torch-cpu", "torch-cpu", "torch-cuda"]),
        ("cuda", "linux", ["torch-cuda"]),
        ("cpu", "win32", ["torch-cpu"]),
        ("cuda", "win32", ["torch-cuda", "torch-cuda", "torch-cpu"]),
        ("cpu", "darwin", ["torch-cpu"]),
    ],
)
def test_a_build_that_the_default_index_lacks_is_asked_of_pip_then_uv_then_done_without(
    build: str, platform: str, locks: list[str]
) -> None:
    assert [way.lock for way in ways(build, platform)] == locks


def test_taking_another_build_than_the_chosen_one_is_said() -> None:
    assert all(ways(build, platform)[-1].remark for build, platform in [("cpu", "linux"), ("cuda", "win32")])


@pytest.mark.parametrize("name", ["pip", "runtime", "torch-cpu", "torch-cuda", "starter", "dev", "uv"])
def test_every_line_of_a_lock_names_one_exact_version(root: Path, name: str) -> None:
    loose = [line for line in locked(root, name) if not re.match(r"[A-Za-z0-9._-]+={2,3}[\w.+]+( ;|$)", line)]

    assert loose == []


def test_the_shared_lock_holds_no_build_of_torch(root: Path) -> None:
    assert not [line for line in locked(root, "runtime") if re.match(r"torch|triton|nvidia-cu|cuda", line)]


def test_packages_of_two_locks_have_the_same_version(root: Path) -> None:
    runtime, dev = set(locked(root, "runtime")), set(locked(root, "dev"))
    names = {line.split("==")[0] for line in runtime}

    assert {line for line in dev - runtime if line.split("==")[0] in names and ";" not in line} == set()


def test_what_the_project_depends_on_is_locked_in_a_version_that_it_accepts(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locks = [line.partition(" ;")[0] for name in ("runtime", "torch-cpu") for line in locked(root, name)]
    pins = [Requirement(line) for line in locks]
    accepted = {
        wish.name
        for wish in map(Requirement, project["dependencies"])
        for pin in pins
        if canonicalize_name(pin.name) == canonicalize_name(wish.name)
        and wish.specifier.contains(next(iter(pin.specifier)).version)
    }

    assert accepted == {Requirement(line).name for line in project["dependencies"]}
