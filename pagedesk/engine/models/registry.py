"""The architectures that PageDesk computes, and what sets each apart from the others.

Stdlib only. A new architecture of the same decoder is a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pagedesk.engine.errors import ModelFileError


@dataclass(frozen=True, slots=True)
class Architecture:
    """What is peculiar to an architecture.

    Attributes:
        name: The value of `general.architecture`.
        pairs_interleaved: The rows of queries and keys are stored so that neighbours turn together; the rows are put
            back into halves when they are loaded, and one rope serves all.
    """

    name: str
    pairs_interleaved: bool


ARCHITECTURES: Mapping[str, Architecture] = {"llama": Architecture("llama", pairs_interleaved=True)}


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
