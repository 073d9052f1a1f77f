"""The functions that gate a feed-forward. Stdlib only, so that a model can be described without torch."""

from __future__ import annotations

from enum import Enum, auto


class Activation(Enum):
    """SILU: x times its sigmoid. GELU_TANH: x times the normal distribution's share below it, by the tanh formula."""

    SILU = auto()
    GELU_TANH = auto()
