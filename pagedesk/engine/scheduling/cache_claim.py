"""What the cache can do for a new sequence: blocks to share, and the start of one block to copy, in every group.

Engine thread only. Looks, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.cache_group import CacheGroup
from pagedesk.engine.scheduling.child_index import Match
from pagedesk.engine.scheduling.prefix_cache import PrefixCache
from pagedesk.engine.scheduling.sequence import Sequence


@dataclass(frozen=True, slots=True)
class GroupClaim:
    """The cached start of a sequence in one group.

    Attributes:
        first_index: The first block that the group's layers look at from there on.
        blocks: The blocks from that one on; the last one may be partial, if nobody else holds it.
        source: A block whose first tokens are the next ones; None where none is copied.
    """

    first_index: int
    blocks: tuple[Block, ...]
    source: Block | None = None


@dataclass(frozen=True, slots=True)
class CacheClaim:
    """The cached start of a sequence: as long as every group can do.

    Attributes:
        num_tokens: Tokens that need not be computed, those to copy included.
        parts: By group.
    """

    num_tokens: int
    parts: tuple[GroupClaim, ...]

    @property
    def num_revived(self) -> int:
        """Blocks that are available now and will not be."""
        return sum(block.is_linked for part in self.parts for block in part.blocks)

    @property
    def num_pinned(self) -> int:
        """Blocks that are available now and will not be before the copies are made."""
        return sum(part.source is not None and part.source.is_linked for part in self.parts)

    @property
    def has_copies(self) -> bool:
        """Whether a block is to be copied."""
        return any(part.source is not None for part in self.parts)


def find_claim(
    cache: PrefixCache, sequence: Sequence, groups: tuple[CacheGroup, ...], *, may_copy: bool = True
) -> CacheClaim:
    """The longest cached start of a sequence; its last token is left to compute, for it chooses the next one.

    A start of n tokens is cached if every group has all blocks of it that its layers will look at: those without a
    window from the first one on, the others what their window covers before n.
    """
    views = [_GroupView(cache, sequence, group) for group in groups]
    num_full = min(view.num_full_blocks() for view in views)
    while True:
        for num_tokens, matches in _starts(views, num_full, may_copy=may_copy):
            if not _gaps(views, num_tokens, num_full):
                parts = zip(views, matches, strict=True)
                return CacheClaim(num_tokens, tuple(view.part(num_tokens, num_full, match) for view, match in parts))
        num_full = min(_gaps(views, num_full * views[0].group.block_size, num_full))


def _gaps(views: list[_GroupView], num_tokens: int, num_full: int) -> list[int]:
    """For each group that lacks a block which it needs after so many tokens, the last such block."""
    return [gap for view in views if (gap := view.last_gap(num_tokens, num_full)) is not None]


_Matches = tuple[Match[Block] | None, ...]


def _starts(views: list[_GroupView], num_full: int, *, may_copy: bool) -> Iterator[tuple[int, _Matches]]:
    """The starts with `num_full` full blocks: with the part of the next block that all groups have, and without."""
    start = num_full * views[0].group.block_size
    matches = tuple(view.match_after(num_full) for view in views)
    num_common = min(0 if match is None else match.num_tokens for match in matches)
    if num_common:
        cut = tuple(match._replace(num_tokens=num_common) for match in matches if match is not None)
        if may_copy or all(_is_taken_over(match) for match in cut):
            yield start + num_common, cut
    yield start, (None,) * len(views)


def _is_taken_over(match: Match[Block]) -> bool:
    """Whether the sequence can write on in the block itself: nobody holds it, and all that it holds is wanted."""
    block = match.child.value
    return block.key is None and not block.holders and match.num_tokens == len(match.child.token_ids)


class _GroupView:
    """The cache as one group sees it for one sequence."""

    def __init__(self, cache: PrefixCache, sequence: Sequence, group: CacheGroup) -> None:
        self.group = group
        self._cache = cache
        self._sequence = sequence
        self._max_tokens = sequence.num_tokens - 1

    def num_full_blocks(self) -> int:
        """The most full blocks that a start can have as far as this group knows."""
        group, most = self.group, self._max_tokens // self.group.block_size
        if group.window is not None:
            return most
        return len(self._cache.longest_prefix(self._sequence.keys(most, group.block_size, group.root_key)))

    def last_gap(self, num_tokens: int, num_full: int) -> int | None:
        """The last of the full blocks that is needed after so many tokens and is not there; None if all are."""
        if self.group.window is None:
            return None
        needed = range(self.group.first_needed(num_tokens), num_full)
        return next((index for index in reversed(needed) if self._block(index) is None), None)

    def match_after(self, num_full: int) -> Match[Block] | None:
        """The block that agrees longest with what follows the full ones."""
        start = num_full * self.group.block_size
        wanted = self._sequence.token_ids[start : min(start + self.group.block_size, self._max_tokens)]
        return self._cache.best_match(self._key_before(num_full), tuple(wanted))

    def part(self, num_tokens: int, num_full: int, match: Match[Block] | None) -> GroupClaim:
        """The claim on this group."""
        first = self.group.first_needed(num_tokens)
        blocks = tuple(block for index in range(first, num_full) if (block := self._block(index)) is not None)
        if match is None:
            return GroupClaim(first, blocks)
        block = match.child.value
        if _is_taken_over(match):
            return GroupClaim(first, (*blocks, block))
        return GroupClaim(first, blocks, block)

    def _block(self, index: int) -> Block | None:
        return self._cache.find(self._key_before(index + 1))

    def _key_before(self, index: int) -> bytes:
        return self._sequence.key_before(index, self.group.block_size, self.group.root_key)
