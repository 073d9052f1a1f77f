"""Which device and which number format a model computes in, unless the user says so. Any thread."""

from __future__ import annotations

import torch

from pagedesk.protocol import DType

_TORCH_DTYPES = {
    DType.FLOAT32: torch.float32,
    DType.BFLOAT16: torch.bfloat16,
    DType.FLOAT16: torch.float16,
}
_AMPERE = (8, 0)


def select_device(name: str | None) -> torch.device:
    """The device of that name; None: a CUDA card that answers, else the CPU."""
    if name is not None:
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def select_dtype(wanted: DType, device: torch.device, *, fits_float16: bool = True) -> DType:
    """`wanted`, or for AUTO the fastest format that the device has instructions for.

    Args:
        wanted: What the user says.
        device: Where the model will be.
        fits_float16: The model's activations stay within the range of float16.
    """
    if wanted != DType.AUTO:
        return wanted
    if device.type == "cuda":
        half = DType.FLOAT16 if fits_float16 else DType.FLOAT32
        return DType.BFLOAT16 if torch.cuda.get_device_capability(device) >= _AMPERE else half
    capabilities = torch.cpu.get_capabilities()
    has_bfloat16 = capabilities.get("avx512_bf16") or capabilities.get("amx_bf16")
    return DType.BFLOAT16 if has_bfloat16 else DType.FLOAT32


def torch_dtype(dtype: DType) -> torch.dtype:
    """Torch's name of a format; AUTO has none."""
    return _TORCH_DTYPES[dtype]
