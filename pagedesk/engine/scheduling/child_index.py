"""What follows a block: runs of tokens by the key of the block before them, found by their longest common start.

Engine thread only. The runs of one parent are kept sorted: the one that agrees longest with a text then stands next to
where that text itself would stand, so a search takes O(log n) however many chats go on from one system prompt.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Child(NamedTuple, Generic[T]):
    """One run of tokens; `order` is different for each, so that values are never compared."""

    token_ids: tuple[int, ...]
    order: int
    value: T


class Match(NamedTuple, Generic[T]):
    """The child that agrees longest with a text, and on how many tokens."""

    child: Child[T]
    num_tokens: int


def num_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two runs have in common from their start."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


class ChildIndex(Generic[T]):
    """Children by parent key, in the order of their tokens."""

    def __init__(self) -> None:
        self._children: dict[bytes, list[Child[T]]] = {}

    def __len__(self) -> int:
        return sum(len(children) for children in self._children.values())

    def of(self, parent: bytes) -> Sequence[Child[T]]:
        """All children of a parent."""
        return self._children.get(parent, ())

    def add(self, parent: bytes, child: Child[T]) -> None:
        """Let a child be found."""
        insort(self._children.setdefault(parent, []), child)

    def remove(self, parent: bytes, child: Child[T]) -> None:
        """Let a child be found no more."""
        children = self._children[parent]
        del children[self._place(children, child)]
        if not children:
            del self._children[parent]

    def best(self, parent: bytes, token_ids: tuple[int, ...]) -> Match[T] | None:
        """The child that agrees longest with a text; None if none agrees on the first token."""
        children = self._children.get(parent, [])
        place = bisect_left(children, token_ids, key=attrgetter("token_ids"))
        nearest = [
            Match(child, num_common(child.token_ids, token_ids)) for child in children[max(place - 1, 0) : place + 1]
        ]
        longest = max(nearest, key=attrgetter("num_tokens"), default=None)
        return longest if longest is not None and longest.num_tokens else None

    def covers(self, parent: bytes, child: Child[T]) -> bool:
        """Whether another child holds all the tokens of this one."""
        children = self._children[parent]
        place = self._place(children, child)
        length = len(child.token_ids)
        neighbours = [*children[max(place - 1, 0) : place], *children[place + 1 : place + 2]]
        return any(other.token_ids[:length] == child.token_ids for other in neighbours)

    def _place(self, children: list[Child[T]], child: Child[T]) -> int:
        place = bisect_left(children, (child.token_ids, child.order), key=itemgetter(0, 1))
        assert children[place].order == child.order, f"{child} is not here"
        return place
