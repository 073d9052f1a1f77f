"""The pictures of single cells, all made once: one sprite for each look and each step of a fade.

Pure numpy; knows neither the pool nor Qt. A sprite is a cell with its gap, in device pixels of 0xffRRGGBB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pagedesk.ui.gauge import looks
from pagedesk.ui.gauge.palette import MapPalette

Pixels: TypeAlias = npt.NDArray[np.uint32]
Mask: TypeAlias = npt.NDArray[np.bool_]

NUM_STEPS = 3
"""Steps of a fade: at 10 frames a second a flash of 240 ms and a fade of 320 ms are seen on three frames."""
STILL = 0
"""The phase of a cell that does not fade."""
FLASH = 1
"""The first phase of a block that was just taken."""
FREED = FLASH + NUM_STEPS
"""The first phase of a block that was just freed; the look is the one it had."""
NUM_PHASES = FREED + NUM_STEPS

_FLASH_STRENGTH = 0.75
_SMALLEST_HATCHED = 5
_FIRST_THICK_OUTLINE = 14
_FAINT = 0.42
_OPAQUE = np.uint32(0xFF000000)
_SHIFTS = np.array([0, 8, 16], np.uint32)


@dataclass(frozen=True, slots=True)
class FadeTimes:
    """Milliseconds of a frame, of a flash and of the fade of a freed block."""

    frame_ms: int
    flash_ms: int
    freed_ms: int

    def flash_left(self, step: int) -> float:
        """How much of a flash is left on its frame `step`; the first shows all of it."""
        return max(0.0, 1 - step * self.frame_ms / self.flash_ms)

    def color_left(self, step: int) -> float:
        """How much of a freed block's colour is left on its frame `step`; the first is one frame into the fade."""
        return max(0.0, 1 - (step + 1) * self.frame_ms / self.freed_ms)


def make_atlas(palette: MapPalette, cell: int, gap: int, times: FadeTimes) -> Pixels:
    """All sprites: uint32 [NUM_PHASES, NUM_LOOKS, cell + gap, cell + gap].

    A flash is the flash colour over the cell, from 75 % linearly to nothing; a freed cell goes from its look to free.
    """
    still = make_sprites(palette, cell)
    steps = range(NUM_STEPS)
    flashes = [blend(still, palette.flash, _FLASH_STRENGTH * times.flash_left(step)) for step in steps]
    fades = [blend(still[looks.FREE], still, times.color_left(step)) for step in steps]
    pitch = cell + gap
    atlas = np.full((NUM_PHASES, looks.NUM_LOOKS, pitch, pitch), palette.background, np.uint32)
    atlas[:, :, :cell, :cell] = np.stack([still, *flashes, *fades])
    return atlas


def make_sprites(palette: MapPalette, cell: int) -> Pixels:
    """The cells at rest, without gaps: uint32 [NUM_LOOKS, cell, cell]."""
    sprites = np.full((looks.NUM_LOOKS, cell, cell), palette.free, np.uint32)
    hatch = hatch_mask(cell)
    for index, color in enumerate(palette.chats):
        sprites[looks.OWNED + index] = _two_tone(pattern_mask(palette.patterns[index], cell), color, palette.background)
        sprites[looks.SHARED + index] = _two_tone(hatch, color, palette.background)
        sprites[looks.CACHED + index] = _cached(cell, color, palette.free)
    sprites[looks.SHARED_BY_MANY] = _two_tone(hatch, palette.many, palette.background)
    return sprites


def hatch_mask(cell: int) -> Mask:
    """Where a shared cell has its colour: diagonal stripes, below 5 px a checkerboard of two squares each way."""
    x, y = np.meshgrid(np.arange(cell), np.arange(cell))
    if cell < _SMALLEST_HATCHED:
        square = max(1, cell // 2)
        return np.asarray((x // square + y // square) % 2 == 0)
    stripe = max(2, round(cell / 5))
    return np.asarray((x + y) % (2 * stripe) < stripe)


def outline_mask(cell: int) -> Mask:
    """Where a cached cell has its colour: its edge, 1 px wide, from 14 px cells on 2 px."""
    width = 2 if cell >= _FIRST_THICK_OUTLINE else 1
    mask = np.ones((cell, cell), np.bool_)
    mask[width : cell - width, width : cell - width] = False
    return mask


def pattern_mask(pattern: tuple[str, ...] | None, cell: int) -> Mask:
    """Where an owned cell has its colour: a 7 x 7 mask scaled to the nearest pixel, or everywhere."""
    if pattern is None:
        return np.ones((cell, cell), np.bool_)
    mask = np.array([[character == "#" for character in row] for row in pattern])
    nearest = np.arange(cell) * len(pattern) // cell
    return np.asarray(mask[np.ix_(nearest, nearest)])


def blend(below: Pixels | int, above: Pixels | int, strength: float) -> Pixels:
    """Colours with others laid over them; a strength of 0 leaves them, 1 replaces them."""
    bottom, top = _channels(below), _channels(above)
    mixed = np.rint(bottom * (1 - strength) + top * strength).astype(np.uint32)
    return np.asarray(_OPAQUE | (mixed << _SHIFTS).sum(axis=-1, dtype=np.uint32))


def _channels(colors: Pixels | int) -> npt.NDArray[np.uint32]:
    return np.asarray((np.asarray(colors, np.uint32)[..., np.newaxis] >> _SHIFTS) & 0xFF, np.uint32)


def _two_tone(mask: Mask, color: int, background: int) -> Pixels:
    return np.where(mask, np.uint32(color), np.uint32(background))


def _cached(cell: int, color: int, free: int) -> Pixels:
    if cell < _SMALLEST_HATCHED:
        return np.full((cell, cell), blend(free, color, _FAINT), np.uint32)
    return _two_tone(outline_mask(cell), color, free)
