"""Few different heights for the products of a step on a CPU. Engine thread.

For 16-bit numbers torch compiles a routine for each height of a product that it meets and keeps up to a thousand of
them: 2.6 MB for each number of tokens in a step, 650 MB in all for a model of 135 million parameters (torch 2.13 with
oneDNN, measured on an AMD EPYC). With rows of zeros below there are two dozen heights.
"""

from __future__ import annotations

import torch
from torch.nn import functional

_FEW = 8
"""Running answers alone: each height counts, and there are not many."""
_SHORT = 64
_SHORT_STEP, _LONG_STEP = 8, 32


def pad_rows(inputs: torch.Tensor) -> torch.Tensor:
    """`inputs` [num_rows, features], with rows of zeros below where its height would be one of too many."""
    if inputs.device.type != "cpu" or inputs.dtype == torch.float32:
        return inputs
    num_missing = padded_height(len(inputs)) - len(inputs)
    return functional.pad(inputs, (0, 0, 0, num_missing)) if num_missing else inputs


def padded_height(num_rows: int) -> int:
    """The height that a product of so many rows is computed at."""
    if num_rows <= _FEW:
        return num_rows
    step = _SHORT_STEP if num_rows <= _SHORT else _LONG_STEP
    return -(-num_rows // step) * step
