"""Why a prompt was not in the cache from some token on, as far as that can be told truthfully.

Engine thread only. Looks, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.child_index import num_common
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.protocol import MissReason


def explain_miss(pool: BlockPool, sequence: Sequence, block_size: int, root_key: bytes) -> MissReason | None:
    """Why the first token that a sequence must compute was not in the cache; ask right after it got its blocks.

    Returns:
        EVICTED if the cache had that token at that place and gave it up, EDITED if this chat had another token there,
        else NEW; None if only the last token is left, which is always computed.
    """
    if sequence.num_uncomputed_tokens <= 1:
        return None
    index, num_matching = divmod(sequence.num_computed_tokens, block_size)
    parent = sequence.key_before(index, block_size, root_key)
    wanted = tuple(sequence.token_ids[index * block_size : (index + 1) * block_size])
    if pool.evictions.num_matching(parent, wanted) > num_matching:
        return MissReason.EVICTED
    others = _texts_of_chat(pool, parent, sequence.chat_id)
    if any(len(text) > num_matching == num_common(text, wanted) for text in others):
        return MissReason.EDITED
    return MissReason.NEW


def _texts_of_chat(pool: BlockPool, parent: bytes, chat_id: str) -> Iterator[tuple[int, ...]]:
    yield from (child.token_ids for child in pool.cache.children(parent) if chat_id in child.value.chats)
    yield from pool.evictions.of_chat(parent, chat_id)
