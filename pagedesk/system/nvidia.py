"""The NVIDIA cards of this machine, as their driver describes them through NVML: no torch, no CUDA context.

Any thread. Whatever the driver refuses to tell or gets wrong is None, never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from pagedesk.system.probing import or_none

_MAX_CARD_BYTES = 1 << 44
"""16 TiB: no card has more; a larger number is a driver's way to say that it does not know."""


@dataclass(frozen=True, slots=True)
class GraphicsCard:
    """One card; None where the driver does not tell.

    Attributes:
        used_bytes: Memory in use by all programs.
        compute_capability: (major, minor), for instance (8, 9).
    """

    name: str | None
    total_bytes: int | None
    used_bytes: int | None
    compute_capability: tuple[int, int] | None


def probe_cards(nvml: ModuleType | None = None) -> tuple[tuple[GraphicsCard, ...], str | None]:
    """The cards and the driver's version; no cards and None if there is no driver.

    Args:
        nvml: The module that speaks to the driver; by default `pynvml`.
    """
    module = nvml or or_none(lambda: import_module("pynvml"))
    if module is None:
        return (), None
    try:
        module.nvmlInit()
    except Exception:  # noqa: BLE001 - no driver, or one that does not answer
        return (), None
    try:
        num_cards = or_none(module.nvmlDeviceGetCount) or 0
        found = (_probe_card(module, index) for index in range(num_cards))
        return tuple(card for card in found if card), _text(or_none(module.nvmlSystemGetDriverVersion))
    finally:
        or_none(module.nvmlShutdown)


def _probe_card(nvml: ModuleType, index: int) -> GraphicsCard | None:
    handle = or_none(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
    if handle is None:
        return None
    memory = or_none(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
    total = _bytes(getattr(memory, "total", None), _MAX_CARD_BYTES, at_least=1)
    return GraphicsCard(
        name=_text(or_none(lambda: nvml.nvmlDeviceGetName(handle))),
        total_bytes=total,
        used_bytes=None if total is None else _bytes(getattr(memory, "used", None), total),
        compute_capability=_capability(or_none(lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle))),
    )


def _bytes(value: object, at_most: int, at_least: int = 0) -> int | None:
    number = or_none(lambda: int(value))  # type: ignore[call-overload]  # whatever it is, it may fail
    return number if isinstance(number, int) and at_least <= number <= at_most else None


def _text(value: object) -> str | None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return (text.strip() or None) if isinstance(text, str) else None


def _capability(value: object) -> tuple[int, int] | None:
    match value:
        case (int(major), int(minor)) if 1 <= major < 100 and 0 <= minor < 100:
            return major, minor
        case _:
            return None
