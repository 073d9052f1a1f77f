"""The architectures that PageDesk computes, and what sets each apart from the others.

Stdlib only. A new architecture of the same decoder is a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pagedesk.engine.backends.activation import Activation
from pagedesk.engine.errors import ModelFileError


@dataclass(frozen=True, slots=True)
class Architecture:
    """What is peculiar to an architecture.

    Attributes:
        name: The value of `general.architecture`.
        pairs_interleaved: The rows of queries and keys are stored so that neighbours turn together; the rows are put
            back into halves when they are loaded, and one rope serves all.
        has_head_norms: Each head of queries and keys is normed before it is turned.
        has_post_norms: What attention and feed-forward give is normed before it is added to the residual.
        activation: What gates the feed-forward.
        scales_embedding: Embeddings are multiplied by the root of the hidden size.
        window_period: Where the file does not say which layers have its window: all but every n-th; None: no layer.
        window_theta: Base of the wavelengths in layers with a window, unscaled, where the file does not say; None:
            as in the others.
        fits_float16: Its activations stay within the range of float16.
        num_layers_of_wide_heads: With so many layers the scale of attention is that of heads of size hidden size /
            heads, whatever size they have.
    """

    name: str
    pairs_interleaved: bool = False
    has_head_norms: bool = False
    has_post_norms: bool = False
    activation: Activation = Activation.SILU
    scales_embedding: bool = False
    window_period: int | None = None
    window_theta: float | None = None
    fits_float16: bool = True
    num_layers_of_wide_heads: int | None = None


_ALL = (
    Architecture("llama", pairs_interleaved=True),
    Architecture(
        "gemma2",
        has_post_norms=True,
        activation=Activation.GELU_TANH,
        scales_embedding=True,
        window_period=2,
        num_layers_of_wide_heads=46,
    ),
    Architecture(
        "gemma3",
        has_head_norms=True,
        has_post_norms=True,
        activation=Activation.GELU_TANH,
        scales_embedding=True,
        window_period=6,
        window_theta=10000.0,
        fits_float16=False,
        num_layers_of_wide_heads=62,
    ),
)
ARCHITECTURES: Mapping[str, Architecture] = {architecture.name: architecture for architecture in _ALL}


def find_architecture(metadata: Mapping[str, object]) -> Architecture:
    """The architecture that a file names.

    Raises:
        ModelFileError: None, or one that PageDesk does not compute.
    """
    name = metadata.get("general.architecture")
    if isinstance(name, str) and name in ARCHITECTURES:
        return ARCHITECTURES[name]
    supported = ", ".join(sorted(ARCHITECTURES))
    said = f"is of the architecture {name!r:.60}" if name else "does not name its architecture"
    raise ModelFileError(f"This model {said}; PageDesk computes: {supported}.", "Choose a model of one of these.")
