"""Which sprite each cell shows at the moment: its look, and the phase of a flash or a fade.

Pure numpy; knows neither pixels nor time: whoever owns it says when a frame has passed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge import looks, sprites
from pagedesk.ui.gauge.looks import Looks

Indices: TypeAlias = npt.NDArray[np.intp]


class FadingCells:
    """The cells of a pool."""

    def __init__(self, first: Looks) -> None:
        self.replace(first)

    def __len__(self) -> int:
        return len(self._looks)

    @property
    def is_fading(self) -> bool:
        """Whether any cell will change by itself."""
        return bool(self._phases.any())

    def replace(self, new: Looks) -> None:
        """Take new looks at once, without a flash; the pool may have another size."""
        self._looks, self._shown_looks = new, new.copy()
        self._phases = np.zeros(len(new), np.uint8)
        self._counts = looks.counts_of(new)

    def update(self, new: Looks) -> Indices:
        """Take new looks of the same pool, start flashes and fades; returns the cells that changed."""
        old = self._looks
        changed = np.flatnonzero(old != new)
        before, after = old[changed], new[changed]
        freed = looks.newly_freed(before, after)
        phases = np.where(
            looks.newly_taken(before, after), sprites.FLASH, np.where(freed, sprites.FREED, sprites.STILL)
        )
        self._phases[changed] = phases
        self._shown_looks[changed] = np.where(freed, before, after)
        self._looks = new
        self._counts += looks.counts_of(after) - looks.counts_of(before)
        return changed

    def advance(self) -> Indices:
        """Let one frame pass; returns the cells that changed."""
        fading = np.flatnonzero(self._phases)
        phases = self._phases[fading] + 1
        ended = (phases == sprites.FREED) | (phases == sprites.NUM_PHASES)
        self._phases[fading] = np.where(ended, sprites.STILL, phases)
        done = fading[ended]
        self._shown_looks[done] = self._looks[done]
        return fading

    def sprites_of(self, cells: Indices) -> tuple[npt.NDArray[np.uint8], Looks]:
        """The phase and the look that each of these cells shows."""
        return self._phases[cells], self._shown_looks[cells]

    def count(self, state: BlockState) -> int:
        """How many blocks the map shows in a state."""
        return int(self._counts[state])
