"""Random numbers that depend on a seed and a counter alone. Stdlib only, any thread.

A sequence that loses its turn, or runs in another batch, draws the same numbers again.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_STREAM_STEP = 0xD1B54A32D192ED03


def uniform(seed: int, draw_index: int, stream: int = 0) -> float:
    """A number in [0, 1) for draw `draw_index` of `seed`, 53 random bits (SplitMix64 applied to both).

    Streams of one seed are independent: whoever needs a second number for the same draw takes another stream.
    """
    counter = (draw_index * _GOLDEN + stream * _STREAM_STEP) & _MASK
    mixed = _mix(_mix(seed & _MASK) ^ counter)
    return (mixed >> 11) * 2.0**-53


def _mix(value: int) -> int:
    """The step and finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    value = (value + _GOLDEN) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
