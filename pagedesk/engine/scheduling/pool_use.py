"""What the pool is used for at one moment between two steps: counters for benchmarks. Frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Counters of scheduler and pool.

    Attributes:
        num_running: Sequences that have the turn.
        num_held_blocks: Blocks that they hold.
        num_used_tokens: Tokens that they have in the cache, counted once for each sequence.
        num_lost_turns: How often a sequence lost its turn for lack of blocks, since the model was loaded.
        num_evicted_blocks: How many cached blocks were taken for something else since then.
    """

    num_running: int
    num_held_blocks: int
    num_used_tokens: int
    num_lost_turns: int
    num_evicted_blocks: int
