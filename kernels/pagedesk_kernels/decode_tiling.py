"""How decode attention is cut into programs for a card: by rule, from shapes alone.

Contract: no Triton here, no trial runs (a desktop start must not tune) and no wait for the device; the reasons are
in `kernels/README.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

MAX_SPLITS = 64
"""Most pieces that one sequence is cut into; the merge kernel holds them all in one tile."""

_PROGRAMS_PER_MULTIPROCESSOR = 2
_MIN_SPLIT_TOKENS = 128
_DOT_TILE_ELEMENTS = 4096  # a tile of keys: 8 KiB of a 16-bit dtype, so that two programs of two buffers fit any card
_DOT_STAGES = 5  # gives two buffers: Triton deals the stages out to the block table's loads and to those that need them
_TILE_ELEMENTS = 2048  # without tl.dot: 16 elements of keys and 16 of values a thread
_SUM_ELEMENTS = 8192  # without tl.dot: 64 running sums a thread


@dataclass(frozen=True, slots=True)
class Card:
    """What decides the cut.

    Attributes:
        capability: Compute capability times ten: 75, 80, 86, 89, 90, 120.
        num_multiprocessors: Streaming multiprocessors.
    """

    capability: int
    num_multiprocessors: int


INTERPRETED_CARD = Card(capability=80, num_multiprocessors=8)
"""Stands in where there is no card: small, so that a few sequences still split."""


@dataclass(frozen=True, slots=True)
class DecodeTiling:
    """How the kernel walks over the cache; each value makes a program of its own.

    Attributes:
        use_dot: Tensor-core products; else multiply and sum, one running softmax a tile row.
        tile_tokens: Tokens in one step of the walk; a power of two, 16 or more with `use_dot`.
        num_warps: Warps of a program.
        num_stages: Depth of the pipeline of loads.
    """

    use_dot: bool
    tile_tokens: int
    num_warps: int
    num_stages: int


@cache
def card_of(device: torch.device) -> Card:
    """Describe the card behind `device`; without CUDA (Triton's interpreter) a stand-in."""
    if device.type != "cuda":
        return INTERPRETED_CARD
    properties = torch.cuda.get_device_properties(device)
    return Card(properties.major * 10 + properties.minor, properties.multi_processor_count)


def choose_tiling(card: Card, group_size: int, head_size: int, dtype: torch.dtype) -> DecodeTiling:
    """Choose how to walk.

    Tensor cores from sm_80 on (on sm_75 Triton turns `tl.dot` into scalar code) where several query heads share what
    was loaded. Never for float32, which `tl.dot` would round to TF32.

    Args:
        card: What runs it.
        group_size: Query heads that share a KV head.
        head_size: Elements of a head.
        dtype: Of the cache.
    """
    head_padded = next_power_of_2(head_size)
    if card.capability >= 80 and group_size > 1 and dtype != torch.float32:
        tile_tokens = max(16, min(64, _DOT_TILE_ELEMENTS // head_padded))
        return DecodeTiling(use_dot=True, tile_tokens=tile_tokens, num_warps=4, num_stages=_DOT_STAGES)
    tile_elements = min(_TILE_ELEMENTS, _SUM_ELEMENTS // next_power_of_2(group_size))
    return DecodeTiling(use_dot=False, tile_tokens=max(4, tile_elements // head_padded), num_warps=4, num_stages=3)


def choose_num_splits(card: Card, num_programs: int, max_seq_len: int) -> int:
    """Choose into how many pieces each sequence is cut: a power of two, at most `MAX_SPLITS`.

    Enough to fill the card, but pieces of about 128 tokens or more: the merge must cost less than it gains.

    Args:
        card: What runs it.
        num_programs: Programs without a split: sequences times KV heads.
        max_seq_len: Bound on the lengths.
    """
    wanted = _PROGRAMS_PER_MULTIPROCESSOR * card.num_multiprocessors // num_programs
    useful = max_seq_len // _MIN_SPLIT_TOKENS
    return min(MAX_SPLITS, next_power_of_2(max(1, min(wanted, useful))))


def next_power_of_2(number: int) -> int:
    """Round up to a power of two."""
    return 1 << (number - 1).bit_length()
