"""The choice of device and number format."""

from __future__ import annotations

import pytest
import torch

from pagedesk.engine.backends.device import select_device, select_dtype, torch_dtype
from pagedesk.protocol import DType

CPU = torch.device("cpu")


def with_capabilities(monkeypatch: pytest.MonkeyPatch, **capabilities: bool) -> DType:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    return select_dtype(DType.AUTO, CPU)


def test_a_named_device_is_taken() -> None:
    assert select_device("cpu") == CPU


@pytest.mark.parametrize("feature", ["avx512_bf16", "amx_bf16"])
def test_a_cpu_that_multiplies_bfloat16_computes_in_it(monkeypatch: pytest.MonkeyPatch, feature: str) -> None:
    assert with_capabilities(monkeypatch, **{feature: True}) == DType.BFLOAT16


def test_another_cpu_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_capabilities(monkeypatch, avx2=True) == DType.FLOAT32


@pytest.mark.parametrize(("capability", "expected"), [((7, 5), DType.FLOAT16), ((8, 0), DType.BFLOAT16)])
def test_a_card_computes_in_bfloat16_from_ampere_on(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], expected: DType
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    assert select_dtype(DType.AUTO, torch.device("cuda")) == expected


def test_a_card_without_bfloat16_computes_what_is_too_large_for_float16_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    assert select_dtype(DType.AUTO, torch.device("cuda"), fits_float16=False) == DType.FLOAT32


def test_what_the_user_wants_is_taken() -> None:
    assert select_dtype(DType.FLOAT16, CPU) == DType.FLOAT16


def test_torch_knows_every_format_but_auto() -> None:
    assert [torch_dtype(kind) for kind in DType if kind != DType.AUTO] == [torch.float32, torch.bfloat16, torch.float16]
