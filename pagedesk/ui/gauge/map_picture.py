"""The moving picture of the pool: snapshots in, an image out, only changed cells drawn.

GUI thread. The door to the modules that use numpy: imported at the first snapshot, so that the window paints before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pagedesk.protocol import BlockState, PoolSnapshot
from pagedesk.ui.gauge.fading_cells import FadingCells
from pagedesk.ui.gauge.looks import looks_of
from pagedesk.ui.gauge.map_image import MapImage
from pagedesk.ui.gauge.map_layout import MapLayout
from pagedesk.ui.gauge.palette import MapPalette
from pagedesk.ui.gauge.sprites import FadeTimes, make_atlas
from pagedesk.ui.theme import duration_ms

if TYPE_CHECKING:
    from PySide6.QtGui import QImage


class MapPicture:
    """Cells of a pool and their image; the image is made when it is first asked for."""

    def __init__(self, snapshot: PoolSnapshot, color_of_chat: Mapping[str, int]) -> None:
        self._cells = FadingCells(looks_of(snapshot, color_of_chat))
        self._image: MapImage | None = None

    @property
    def num_blocks(self) -> int:
        """Cells of the picture."""
        return len(self._cells)

    @property
    def is_fading(self) -> bool:
        """Whether the next frame will differ from this one by itself."""
        return self._cells.is_fading

    def count(self, state: BlockState) -> int:
        """How many cells show a state."""
        return self._cells.count(state)

    def show(self, snapshot: PoolSnapshot, color_of_chat: Mapping[str, int], *, animated: bool) -> None:
        """Take a snapshot; with `animated`, blocks that were just taken or freed begin to fade."""
        looks = looks_of(snapshot, color_of_chat)
        if not animated or len(looks) != self.num_blocks:
            self._cells.replace(looks)
            self._image = None
            return
        changed = self._cells.update(looks)
        if self._image is not None:
            self._image.draw(self._cells, changed)

    def advance(self) -> None:
        """Let one frame pass."""
        changed = self._cells.advance()
        if self._image is not None:
            self._image.draw(self._cells, changed)

    def forget_image(self) -> None:
        """Draw anew at the next look: the layout or the colours changed."""
        self._image = None

    def image(self, layout: MapLayout, palette: MapPalette, ratio: float) -> QImage:
        """The picture as it is now."""
        if self._image is None:
            times = FadeTimes(duration_ms("map_frame"), duration_ms("block_flash"), duration_ms("block_free_fade"))
            atlas = make_atlas(palette, layout.cell, layout.gap, times)
            self._image = MapImage(layout, atlas, palette.background, ratio)
            self._image.draw_all(self._cells)
        return self._image.image
