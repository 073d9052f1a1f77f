"""The block map as one image of device pixels, into which single cells are written.

GUI thread. The image and the array are the same memory; the array lives as long as the image.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage

from pagedesk.ui.gauge.fading_cells import FadingCells, Indices
from pagedesk.ui.gauge.map_layout import MapLayout
from pagedesk.ui.gauge.sprites import Pixels


class MapImage:
    """An image for a layout, drawn with the sprites of an atlas (see `sprites.make_atlas`)."""

    def __init__(self, layout: MapLayout, atlas: Pixels, background: int, ratio: float) -> None:
        pitch, rows = layout.pitch, max(1, layout.rows)
        self.image = QImage(layout.columns * pitch, rows * pitch, QImage.Format.Format_RGB32)
        self.image.setDevicePixelRatio(ratio)
        pixels = np.frombuffer(self.image.bits(), np.uint32)
        pixels[:] = background
        self._cells = pixels.reshape(rows, pitch, layout.columns, pitch).transpose(0, 2, 1, 3)
        self._columns = layout.columns
        self._atlas = atlas

    def draw(self, cells: FadingCells, changed: Indices) -> None:
        """Write the sprites of some cells."""
        rows, columns = np.divmod(changed, self._columns)
        self._cells[rows, columns] = self._atlas[cells.sprites_of(changed)]

    def draw_all(self, cells: FadingCells) -> None:
        """Write the sprites of all cells."""
        self.draw(cells, np.arange(len(cells)))
