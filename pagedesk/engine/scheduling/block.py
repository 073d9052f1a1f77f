"""A block of the cache as the pool sees it: its id, who names it, what it holds.

Engine thread only. Knows nothing of tensors; a block's id is its place in them.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Content(NamedTuple):
    """What a block holds that can be found again; only what was computed, never what is still to be written.

    Attributes:
        parent: Key of the block before it, or the root.
        token_ids: The tokens in its first slots.
        key: What it is found by when it is full; None while it is not.
        chat_id: The chat that computed it.
        is_windowed: Its layers look back over a window only, so it is of use without the first blocks of its text.
    """

    parent: bytes
    token_ids: tuple[int, ...]
    key: bytes | None
    chat_id: str
    is_windowed: bool = False

    def first(self, num_tokens: int) -> Content | None:
        """What is left of it when the slots from `num_tokens` on are written anew."""
        return self._replace(token_ids=self.token_ids[:num_tokens], key=None) if num_tokens else None


class Block(Link):
    """One block; all of them exist from the start of the pool.

    Attributes:
        block_id: Its place in the cache tensors.
        holders: The chat of each block table that names it, one entry a table.
        num_pins: Copies under way that read it.
        content: What the cache knows of it; None for a block that holds nothing of use.
        last_owner: The chat of the last table that named it; None for a block that holds nothing.
    """

    __slots__ = ("block_id", "content", "holders", "last_owner", "num_pins")

    def __init__(self, block_id: int) -> None:
        super().__init__()
        self.block_id = block_id
        self.holders: list[str] = []
        self.num_pins = 0
        self.content: Content | None = None
        self.last_owner: str | None = None

    @property
    def ref_count(self) -> int:
        """How many block tables name it."""
        return len(self.holders)

    @property
    def key(self) -> bytes | None:
        """Its key, if it is full and known to the cache."""
        return None if self.content is None else self.content.key

    @property
    def chats(self) -> frozenset[str]:
        """The chats whose text it holds, as far as it remembers."""
        computed_by = () if self.content is None else (self.content.chat_id,)
        used_by = () if self.last_owner is None else (self.last_owner,)
        return frozenset((*computed_by, *used_by, *self.holders))

    @override
    def __repr__(self) -> str:
        key = "-" if self.key is None else self.key.hex()[:8]
        return f"Block({self.block_id}, refs={self.ref_count}, key={key})"
