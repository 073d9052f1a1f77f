"""The one place where a house is chosen for a device."""

from __future__ import annotations

import torch

from pagedesk.engine.backends.base import Backend
from pagedesk.engine.backends.reference import ReferenceBackend


def select_backend(device: torch.device, block_size: int, max_gathered_tokens: int) -> Backend:
    """The fastest house that runs on `device`.

    Args:
        device: Where the model is.
        block_size: Tokens in a block of the cache.
        max_gathered_tokens: What a house without kernels may gather at a time, see `ReferenceBackend`.
    """
    del device
    return ReferenceBackend(block_size, max_gathered_tokens)
