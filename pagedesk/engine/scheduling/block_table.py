"""The blocks of one sequence in one group of layers, in the order of its tokens.

Engine thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pagedesk.engine.batch import TablePart
from pagedesk.engine.scheduling.block import Block


class BlockTable:
    """Entry i holds the tokens from `i * block_size` on; entries that left the window are gone from its start.

    Attributes:
        first_index: The first entry that is there.
        end: The entry after the last one.
    """

    __slots__ = ("_blocks", "_part", "end", "first_index")

    def __init__(self) -> None:
        self.first_index = 0
        self.end = 0
        self._blocks: list[Block] = []
        self._part: TablePart | None = None

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, index: int) -> Block:
        assert index >= self.first_index, f"block {index} is gone, the first one is {self.first_index}"
        return self._blocks[index - self.first_index]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    @property
    def part(self) -> TablePart:
        """The table as a step is told it; made once for each change, not once for each step."""
        if self._part is None:
            self._part = TablePart(tuple(block.block_id for block in self._blocks), self.first_index)
        return self._part

    @property
    def block_ids(self) -> tuple[int, ...]:
        """The ids in order."""
        return self.part.block_ids

    def has(self, index: int) -> bool:
        """Whether this entry is there."""
        return self.first_index <= index < self.end

    def start_at(self, first_index: int) -> None:
        """Let an empty table begin with this entry."""
        assert not self._blocks, "only an empty table can begin anywhere"
        self._change([], first_index)

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks at the end."""
        self._blocks.extend(blocks)
        self._change(self._blocks, self.first_index)

    def replace(self, index: int, block: Block) -> Block:
        """Put another block at this place and give back the one that was there."""
        replaced = self[index]
        self._blocks[index - self.first_index] = block
        self._part = None
        return replaced

    def drop_before(self, index: int) -> list[Block]:
        """Let the entries before this one go, and give back their blocks."""
        num_dropped = index - self.first_index
        if num_dropped <= 0:
            return []
        dropped, kept = self._blocks[:num_dropped], self._blocks[num_dropped:]
        self._change(kept, index)
        return dropped

    def clear(self) -> None:
        """Empty the table."""
        self._change([], 0)

    def _change(self, blocks: list[Block], first_index: int) -> None:
        self._blocks = blocks
        self.first_index = first_index
        self.end = first_index + len(blocks)
        self._part = None
