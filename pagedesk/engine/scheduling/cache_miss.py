"""Why a prompt was not in the cache from some token on, as far as that can be told truthfully.

Engine thread only. Looks, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.cache_group import CacheGroup
from pagedesk.engine.scheduling.child_index import num_common
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.protocol import MissReason


class _Place(NamedTuple):
    """Where a prompt missed, in one group.

    Attributes:
        parent: Key of the block before the one that it missed in.
        wanted: What it wanted in that block.
        num_matching: How many of these tokens it got.
    """

    parent: bytes
    wanted: tuple[int, ...]
    num_matching: int


def explain_miss(pool: BlockPool, sequence: Sequence, groups: tuple[CacheGroup, ...]) -> MissReason | None:
    """Why the first token that a sequence must compute was not in the cache; ask right after it got its blocks.

    Returns:
        EVICTED if the cache had that token at that place and gave it up, or what its layers would have looked at
        before it; EDITED if this chat had another token there; else NEW. None if only the last token is left, which
        is always computed.
    """
    if sequence.num_uncomputed_tokens <= 1:
        return None
    places = [_place(sequence, group) for group in groups]
    if any(pool.evictions.num_matching(place.parent, place.wanted) > place.num_matching for place in places):
        return MissReason.EVICTED
    if any(group.window is not None for group in groups) and _is_still_there(pool, places[0]):
        return MissReason.EVICTED
    others = _texts_of_chat(pool, places[0].parent, sequence.chat_id)
    if any(len(text) > places[0].num_matching == num_common(text, places[0].wanted) for text in others):
        return MissReason.EDITED
    return MissReason.NEW


def _place(sequence: Sequence, group: CacheGroup) -> _Place:
    size = group.block_size
    index, num_matching = divmod(sequence.num_computed_tokens, size)
    wanted = tuple(sequence.token_ids[index * size : (index + 1) * size])
    return _Place(sequence.key_before(index, size, group.root_key), wanted, num_matching)


def _is_still_there(pool: BlockPool, place: _Place) -> bool:
    match = pool.cache.best_match(place.parent, place.wanted)
    return match is not None and match.num_tokens > place.num_matching


def _texts_of_chat(pool: BlockPool, parent: bytes, chat_id: str) -> Iterator[tuple[int, ...]]:
    yield from (child.token_ids for child in pool.cache.children(parent) if chat_id in child.value.chats)
    yield from pool.evictions.of_chat(parent, chat_id)
