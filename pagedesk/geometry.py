"""The arithmetic of sizes: groups of layers, bytes of a cache block, blocks of a sequence.

Stdlib only; used by engine and library.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BLOCK_SIZE = 16
"""Tokens in a block (Kwon et al., SOSP 2023, figure 18b: 16 is the best size for short and long requests)."""
_MAX_PADDED_SHARE = 1 / 8


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers of one kind that share a block table.

    Attributes:
        layers: Their indices.
        window: How many tokens each token looks back on, itself included; None: all.
    """

    layers: tuple[int, ...]
    window: int | None = None


@dataclass(frozen=True, slots=True)
class ModelGeometry:
    """The sizes of a decoder that decide what it costs.

    Attributes:
        layer_windows: What each layer looks back on, see `LayerGroup`; empty: all layers on everything.
        caps_scores: The scores of attention are capped, which takes them into memory.
    """

    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocab_size: int
    max_model_len: int
    layer_windows: tuple[int | None, ...] = ()
    caps_scores: bool = False

    @property
    def groups(self) -> tuple[LayerGroup, ...]:
        """Its layers in groups of equal size, so that a block of any group has the same bytes."""
        return group_layers(self.layer_windows or (None,) * self.num_layers)

    @property
    def layers_per_block(self) -> int:
        """Layers that a block has room for."""
        return max(len(group.layers) for group in self.groups)

    @property
    def num_padded_layers(self) -> int:
        """Layers that blocks have room for and that do not exist: the price of blocks of one size."""
        return len(self.groups) * self.layers_per_block - self.num_layers


def group_layers(windows: Sequence[int | None]) -> tuple[LayerGroup, ...]:
    """Layers of one kind in groups of equal size, those that look at everything first.

    The size divides the number of layers that look back furthest, because their blocks are the ones that pile up; of
    these sizes it is the largest that leaves at most an eighth of all places empty: the fewer groups, the fewer tables.
    A model with one kind of layer has one group.

    Args:
        windows: What each layer looks back on.
    """
    kinds = sorted(set(windows), key=lambda window: (window is not None, -(window or 0)))
    by_kind = {kind: [index for index, window in enumerate(windows) if window == kind] for kind in kinds}
    size = _group_size([len(layers) for layers in by_kind.values()])
    return tuple(
        LayerGroup(tuple(layers[start : start + size]), kind)
        for kind, layers in by_kind.items()
        for start in range(0, len(layers), size)
    )


def block_bytes(geometry: ModelGeometry, element_bytes: int, block_size: int = BLOCK_SIZE) -> int:
    """Bytes of one block: a key and a value of `block_size` tokens for each KV head of each layer of a group."""
    per_layer = 2 * geometry.num_kv_heads * geometry.head_size * element_bytes
    return block_size * geometry.layers_per_block * per_layer


def blocks_for(num_tokens: int, block_size: int = BLOCK_SIZE) -> int:
    """Blocks that hold `num_tokens` tokens."""
    return -(-num_tokens // block_size)


def first_block_in_window(num_tokens: int, window: int | None, block_size: int) -> int:
    """Index of the first block that the token after `num_tokens` tokens looks at."""
    return 0 if window is None else max(0, num_tokens - window + 1) // block_size


def most_blocks(num_tokens: int, window: int | None, max_step_tokens: int, block_size: int) -> int:
    """Blocks that a sequence of `num_tokens` tokens ever holds at once in a group with this window.

    Args:
        num_tokens: Its length.
        window: See `LayerGroup`.
        max_step_tokens: Tokens of it that one step computes, at most.
        block_size: Tokens in a block.
    """
    needed = blocks_for(num_tokens, block_size)
    if window is None:
        return needed
    span = window - 1 + max_step_tokens
    return min(needed, (span + block_size - 2) // block_size + 1)


def sequence_blocks(windows: Iterable[int | None], num_tokens: int, max_step_tokens: int, block_size: int) -> int:
    """Blocks that a sequence ever holds at once in all its groups, given by their windows."""
    return sum(most_blocks(num_tokens, window, max_step_tokens, block_size) for window in windows)


def _group_size(counts: Sequence[int]) -> int:
    """`counts` of layers by kind, those that look back furthest first."""
    sizes = (size for size in range(counts[0], 0, -1) if counts[0] % size == 0)
    return next(size for size in sizes if _padded_share(counts, size) <= _MAX_PADDED_SHARE)


def _padded_share(counts: Sequence[int], size: int) -> float:
    places = sum(blocks_for(count, size) * size for count in counts)
    return 1 - sum(counts) / places
