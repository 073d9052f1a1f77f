from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import NoReturn

import pytest

from pagedesk.system.nvidia import GraphicsCard, probe_cards

GIB = 1 << 30


class DriverError(Exception):
    """What NVML raises."""


def refuses(*_: object) -> NoReturn:
    raise DriverError


def driver(**answers: object) -> ModuleType:
    """An NVML module with one card, some of its answers replaced."""
    module = ModuleType("fake_nvml")
    module.__dict__.update(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 1,
        nvmlSystemGetDriverVersion=lambda: "580.1",
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda _: "GeForce RTX 4070",
        nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(total=12 * GIB, used=2 * GIB),
        nvmlDeviceGetCudaComputeCapability=lambda _: (8, 9),
    )
    module.__dict__.update(answers)
    return module


def test_a_card_is_described_by_its_driver() -> None:
    assert probe_cards(driver()) == ((GraphicsCard("GeForce RTX 4070", 12 * GIB, 2 * GIB, (8, 9)),), "580.1")


def test_a_name_in_bytes_is_text() -> None:
    (card,), _ = probe_cards(driver(nvmlDeviceGetName=lambda _: b"Tesla T4 "))

    assert card.name == "Tesla T4"


@pytest.mark.parametrize("silent", ["nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"])
def test_a_driver_that_does_not_start_or_count_has_no_cards(silent: str) -> None:
    assert probe_cards(driver(**{silent: refuses}))[0] == ()


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        ("nvmlDeviceGetName", GraphicsCard(None, 12 * GIB, 2 * GIB, (8, 9))),
        ("nvmlDeviceGetMemoryInfo", GraphicsCard("GeForce RTX 4070", None, None, (8, 9))),
        ("nvmlDeviceGetCudaComputeCapability", GraphicsCard("GeForce RTX 4070", 12 * GIB, 2 * GIB, None)),
    ],
)
def test_what_the_driver_refuses_is_none(silent: str, expected: GraphicsCard) -> None:
    assert probe_cards(driver(**{silent: refuses}))[0] == (expected,)


@pytest.mark.parametrize(
    ("total", "used", "expected"),
    [
        (0, 0, (None, None)),
        (-1, 5, (None, None)),
        (2**64 - 1, 5, (None, None)),
        (12 * GIB, 13 * GIB, (12 * GIB, None)),
        (12 * GIB, -1, (12 * GIB, None)),
        (None, "much", (None, None)),
    ],
)
def test_absurd_memory_is_none(total: object, used: object, expected: tuple[int | None, int | None]) -> None:
    memory = SimpleNamespace(total=total, used=used)

    (card,), _ = probe_cards(driver(nvmlDeviceGetMemoryInfo=lambda _: memory))

    assert (card.total_bytes, card.used_bytes) == expected


@pytest.mark.parametrize("absurd", [(9999, 9999), (0, 0), "8.9", None, (8,)])
def test_an_absurd_compute_capability_is_none(absurd: object) -> None:
    (card,), _ = probe_cards(driver(nvmlDeviceGetCudaComputeCapability=lambda _: absurd))

    assert card.compute_capability is None


def test_one_mute_card_does_not_hide_the_other() -> None:
    def handle(index: int) -> int:
        return refuses() if index == 0 else index

    cards, _ = probe_cards(driver(nvmlDeviceGetCount=lambda: 2, nvmlDeviceGetHandleByIndex=handle))

    assert len(cards) == 1


def test_the_driver_is_let_go_of() -> None:
    calls: list[str] = []

    probe_cards(driver(nvmlShutdown=lambda: calls.append("shutdown"), nvmlDeviceGetCount=refuses))

    assert calls == ["shutdown"]
