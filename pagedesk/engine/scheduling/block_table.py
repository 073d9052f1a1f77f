"""The blocks of one sequence, in the order of its tokens.

Engine thread only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pagedesk.engine.scheduling.block import Block


class BlockTable:
    """Entry i holds the tokens from `i * block_size` on."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._ids: tuple[int, ...] | None = ()

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, index: int) -> Block:
        return self._blocks[index]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    @property
    def block_ids(self) -> tuple[int, ...]:
        """The ids in order; made once for each change, not once for each step."""
        if self._ids is None:
            self._ids = tuple(block.block_id for block in self._blocks)
        return self._ids

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks at the end."""
        self._blocks.extend(blocks)
        self._ids = None

    def replace(self, index: int, block: Block) -> Block:
        """Put another block at this place and give back the one that was there."""
        replaced, self._blocks[index] = self._blocks[index], block
        self._ids = None
        return replaced

    def clear(self) -> list[Block]:
        """Empty the table and give back its blocks."""
        blocks, self._blocks = self._blocks, []
        self._ids = ()
        return blocks
