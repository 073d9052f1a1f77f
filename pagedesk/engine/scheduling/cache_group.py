"""A group of layers as the accounting of blocks knows it: how far it looks back, and what its keys begin with.

Plain values. Layers of one group share one block table; blocks of all groups come from one pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pagedesk.engine.scheduling.prefix_cache import block_key
from pagedesk.geometry import blocks_for, first_block_in_window, most_blocks


@dataclass(frozen=True, slots=True)
class CacheGroup:
    """One group.

    Attributes:
        index: Its place among the tables of a sequence.
        root_key: Stands before the first block of every text, and differs for each group: so no key of one group is
            one of another.
        block_size: Tokens in a block.
        max_step_tokens: Most tokens of a sequence that one step computes.
        window: How many tokens each token looks back on, itself included; None: all.
    """

    index: int
    root_key: bytes
    block_size: int
    max_step_tokens: int
    window: int | None = None

    def first_needed(self, num_tokens: int) -> int:
        """Index of the first block that the token after `num_tokens` tokens looks at."""
        return first_block_in_window(num_tokens, self.window, self.block_size)

    def most_blocks(self, num_tokens: int) -> int:
        """Blocks that a sequence of so many tokens ever holds at once."""
        return most_blocks(num_tokens, self.window, self.max_step_tokens, self.block_size)

    def num_to_hold(self, num_tokens: int, first_index: int) -> int:
        """Blocks to hold from `first_index` on, so that a sequence of `num_tokens` tokens never needs one more."""
        return min(blocks_for(num_tokens, self.block_size) - first_index, self.most_blocks(num_tokens))


def cache_groups(
    windows: Iterable[int | None], block_size: int, max_step_tokens: int, root_key: bytes
) -> tuple[CacheGroup, ...]:
    """The groups of a model, by their windows, those that look back furthest first."""
    return tuple(
        CacheGroup(index, _group_root(root_key, index), block_size, max_step_tokens, window)
        for index, window in enumerate(windows)
    )


def _group_root(root_key: bytes, index: int) -> bytes:
    return block_key(root_key, (index,), ("group",)) if index else root_key
