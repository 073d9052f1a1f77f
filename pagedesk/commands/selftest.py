"""`pagedesk selftest`: what this machine has, and whether the engine gives a right answer on it."""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict, dataclass
from importlib import metadata

from pagedesk.commands.client import EngineClient
from pagedesk.commands.options import add_model_options, load_command
from pagedesk.protocol import Message, Role, SamplingParams, Submit
from pagedesk.system.hardware import Machine, probe_machine

PACKAGES = ("torch", "triton", "transformers", "tokenizers", "PySide6-Essentials")
QUESTION = "Count from one to five."
NUM_TOKENS = 16


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The findings; `--json` prints these names. `repeatable`: two greedy runs, one of them from the cache, agree."""

    python: str
    system: str
    packages: dict[str, str]
    machine: Machine
    device: str
    backend: str
    model: str
    answer: str
    cached_tokens: int
    repeatable: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `pagedesk selftest`."""
    add_model_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Test and print; the exit code is 1 if something is wrong."""
    found = _test(options)
    if options.json:
        print(json.dumps(asdict(found), ensure_ascii=False))
    else:
        _print(found)
    return 0 if found.repeatable else 1


def _test(options: argparse.Namespace) -> SelfTest:
    with EngineClient() as client:
        model = client.load(load_command(options), lambda _status: None).model
        first, second = (client.ask(_submit(number), lambda _delta: None)[0] for number in (1, 2))
    return SelfTest(
        python=platform.python_version(),
        system=platform.platform(),
        packages={name: _version(name) for name in PACKAGES},
        machine=probe_machine(),
        device=model.device_name,
        backend=model.backend_name,
        model=model.name,
        answer=first.text,
        cached_tokens=second.finish.usage.cached_tokens,
        repeatable=first.token_ids == second.token_ids,
    )


def _submit(number: int) -> Submit:
    return Submit(
        request_id=f"selftest-{number}",
        chat_id="selftest",
        messages=(Message.of(Role.USER, QUESTION),),
        sampling=SamplingParams(temperature=0, max_tokens=NUM_TOKENS),
        origin="selftest",
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "-"


def _print(found: SelfTest) -> None:
    print(f"Python {found.python} on {found.system}")
    for name, version in found.packages.items():
        print(f"{name} {version}")
    _print_machine(found.machine)
    print(f"{found.model} on {found.device}, backend {found.backend}")
    print(f"{QUESTION} -> {found.answer!r}")
    verdict = "The engine gives the same answer twice" if found.repeatable else "The engine gave two different answers"
    print(f"{verdict} (the second time {found.cached_tokens} prompt tokens came from the cache).")


def _print_machine(machine: Machine) -> None:
    ram = "-" if machine.ram_total_bytes is None else f"{machine.ram_total_bytes / 2**30:.1f} GB"
    print(f"{machine.cpu_name}, {machine.num_cores or '-'} cores, {ram} of memory")
    for card in machine.cards:
        print(f"{card.name}, driver {machine.driver_version or '-'}")
    if not machine.cards:
        print("No NVIDIA card answers")
