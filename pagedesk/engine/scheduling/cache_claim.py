"""What the cache can do for a new sequence: blocks to share, and the start of one block to copy.

Engine thread only. Looks, and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pagedesk.engine.scheduling.block import Block
from pagedesk.engine.scheduling.prefix_cache import PrefixCache
from pagedesk.engine.scheduling.sequence import Sequence


@dataclass(frozen=True, slots=True)
class CacheClaim:
    """The cached start of a sequence.

    Attributes:
        blocks: The blocks that its table starts with; the last one may be partial, if nobody else holds it.
        num_tokens: Tokens that need not be computed, those to copy included.
        source: A block whose first tokens are the next ones; None where no block matches.
        num_copied_tokens: How many of its tokens match.
    """

    blocks: tuple[Block, ...]
    num_tokens: int
    source: Block | None = None
    num_copied_tokens: int = 0

    @property
    def num_revived(self) -> int:
        """Blocks that are available now and will not be."""
        return sum(block.is_linked for block in self.blocks)

    @property
    def num_pinned(self) -> int:
        """Blocks that are available now and will not be before the copy is made."""
        return 0 if self.source is None else int(self.source.is_linked)

    def without_copy(self) -> CacheClaim:
        """The claim where there is no room to keep the source."""
        return replace(self, num_tokens=self.num_tokens - self.num_copied_tokens, source=None, num_copied_tokens=0)


def find_claim(cache: PrefixCache, sequence: Sequence, block_size: int, root_key: bytes) -> CacheClaim:
    """The longest cached start of a sequence; its last token is left to compute, for it chooses the next one."""
    max_tokens = sequence.num_tokens - 1
    full = cache.longest_prefix(sequence.keys(max_tokens // block_size, block_size, root_key))
    start = len(full) * block_size
    wanted = tuple(sequence.token_ids[start : min(start + block_size, max_tokens)])
    match = cache.best_match(sequence.key_before(len(full), block_size, root_key), wanted)
    if match is None:
        return CacheClaim(tuple(full), start)
    block, end = match.child.value, start + match.num_tokens
    if block.key is None and not block.holders and match.num_tokens == len(match.child.token_ids):
        return CacheClaim((*full, block), end)
    return CacheClaim(tuple(full), end, block, match.num_tokens)
