"""A block of the cache as the pool sees it: its id, who names it, what it holds.

Engine thread only. Knows nothing of tensors; a block's id is its place in them.
"""

from __future__ import annotations

from typing_extensions import override


class Link:
    """A place in a doubly linked ring; a link that is in no ring points at itself."""

    __slots__ = ("following", "previous")

    def __init__(self) -> None:
        self.previous: Link = self
        self.following: Link = self

    @property
    def is_linked(self) -> bool:
        """Whether it stands in a ring with others."""
        return self.following is not self


class Block(Link):
    """One block; all of them exist from the start of the pool.

    Attributes:
        block_id: Its place in the cache tensors.
        holders: The chat of each block table that names it, one entry a table.
        key: What the cache finds it by; None while it is not full, or holds nothing of use.
        last_owner: The chat of the last table that named it; None for a block that holds nothing.
    """

    __slots__ = ("block_id", "holders", "key", "last_owner")

    def __init__(self, block_id: int) -> None:
        super().__init__()
        self.block_id = block_id
        self.holders: list[str] = []
        self.key: bytes | None = None
        self.last_owner: str | None = None

    @property
    def ref_count(self) -> int:
        """How many block tables name it."""
        return len(self.holders)

    @override
    def __repr__(self) -> str:
        key = "-" if self.key is None else self.key.hex()[:8]
        return f"Block({self.block_id}, refs={self.ref_count}, key={key})"
