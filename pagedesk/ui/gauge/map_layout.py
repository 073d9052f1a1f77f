"""Where each block's cell stands on the map: size for a number of blocks, columns, the way back from a point.

Pure arithmetic in device pixels; knows neither Qt nor colours.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_HEIGHT = 304
"""The height in logical pixels that a map should not exceed before it scrolls."""

TABLE_WIDTH = 320
"""The width in logical pixels for which the table of cell sizes is written."""


@dataclass(frozen=True, slots=True)
class CellSize:
    """A row of the table of sizes: up to `max_blocks` blocks (None: any number), cell and gap in logical pixels."""

    max_blocks: int | None
    cell: int
    gap: int


@dataclass(frozen=True, slots=True)
class MapLayout:
    """A grid of equal square cells, row by row; lengths in device pixels."""

    num_blocks: int
    cell: int
    gap: int
    columns: int

    @property
    def pitch(self) -> int:
        """From the left edge of a cell to that of the next."""
        return self.cell + self.gap

    @property
    def rows(self) -> int:
        """Rows that hold all blocks."""
        return -(-self.num_blocks // self.columns)

    @property
    def width(self) -> int:
        """Of all columns, without a gap behind the last."""
        return self.columns * self.pitch - self.gap

    @property
    def height(self) -> int:
        """Of all rows, without a gap below the last; 0 for no blocks."""
        return max(0, self.rows * self.pitch - self.gap)

    def origin(self, block_id: int) -> tuple[int, int]:
        """The top left corner of a block's cell."""
        row, column = divmod(block_id, self.columns)
        return column * self.pitch, row * self.pitch

    def block_at(self, x: int, y: int) -> int | None:
        """The block whose cell (or the gap right of it or below it) is at a point."""
        column, row = x // self.pitch, y // self.pitch
        if not 0 <= column < self.columns or row < 0:
            return None
        block_id = row * self.columns + column
        return block_id if block_id < self.num_blocks else None


def lay_out(num_blocks: int, width: float, ratio: float, sizes: tuple[CellSize, ...]) -> MapLayout:
    """The layout with the largest cells that keep the map within `MAX_HEIGHT`; with the smallest it may be higher.

    Args:
        num_blocks: Blocks in the pool.
        width: Room in logical pixels.
        ratio: Device pixels a logical pixel; cell and gap are rounded to device pixels first, so that all are equal.
        sizes: The table, largest cells first. Its limits hold at `TABLE_WIDTH` and grow with the width.
    """
    layouts = [_with_size(size, num_blocks, width, ratio) for size in sizes]
    for size, layout in zip(sizes, layouts, strict=True):
        allowed = size.max_blocks is None or num_blocks * TABLE_WIDTH <= size.max_blocks * max(width, TABLE_WIDTH)
        if allowed and layout.height <= MAX_HEIGHT * ratio:
            return layout
    return layouts[-1]


def _with_size(size: CellSize, num_blocks: int, width: float, ratio: float) -> MapLayout:
    cell = max(1, round(size.cell * ratio))
    gap = max(1, round(size.gap * ratio)) if size.gap else 0
    columns = max(1, (int(width * ratio) + gap) // (cell + gap))
    return MapLayout(num_blocks, cell, gap, columns)
