"""The one place where a house is chosen for a device."""

from __future__ import annotations

import logging

import torch

from pagedesk.engine.backends.base import Backend
from pagedesk.engine.backends.reference import ReferenceBackend

_logger = logging.getLogger(__name__)


def select_backend(device: torch.device, dtype: torch.dtype, block_size: int, max_gathered_tokens: int) -> Backend:
    """The fastest house that runs on `device`.

    Args:
        device: Where the model is.
        dtype: What it computes in.
        block_size: Tokens in a block of the cache.
        max_gathered_tokens: What a house without kernels may gather at a time, see `ReferenceBackend`.
    """
    if device.type == "cuda":
        problem = _why_no_kernels(device, dtype)
        if problem is None:
            from pagedesk.engine.backends.cuda import CudaBackend  # noqa: PLC0415 - imports Triton

            return CudaBackend(block_size, max_gathered_tokens)
        _logger.warning("%s The slower torch path is used.", problem)
    return ReferenceBackend(block_size, max_gathered_tokens)


def _why_no_kernels(device: torch.device, dtype: torch.dtype) -> str | None:
    """None if the kernels run on this card, else the reason in a sentence."""
    try:
        from pagedesk.engine.backends.cuda import why_not_cuda  # noqa: PLC0415 - imports Triton
    except (ImportError, OSError) as error:
        return f"Triton cannot be imported: {error}."
    return why_not_cuda(device, dtype)
