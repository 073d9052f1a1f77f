"""Which full block holds which stretch of text: blocks by key, where a key stands for a whole prefix.

Engine thread only. A key is H(key of the block before, token ids, extra), so two sequences have the same key at
a place exactly if they agree on every token up to the end of that block.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from pagedesk.engine.scheduling.block import Block

KEY_BYTES = 16


def block_key(parent: bytes, token_ids: Sequence[int], extra: tuple[str, ...] = ()) -> bytes:
    """The key of a full block.

    Args:
        parent: Key of the block before it; for the first block the root, which stands for the model and the
            number format of the cache.
        token_ids: The tokens of this block.
        extra: What else its values depend on (images, adapters); empty for text.
    """
    digest = blake2b(parent, digest_size=KEY_BYTES)
    digest.update(array("I", token_ids).tobytes())
    if extra:
        digest.update(repr(extra).encode())
    return digest.digest()


class PrefixCache:
    """Full blocks by key; no two blocks have the same key."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, Block] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    def find(self, key: bytes) -> Block | None:
        """The block with this key, if there is one."""
        return self._blocks.get(key)

    def add(self, key: bytes, block: Block) -> None:
        """Let the block be found by this key; both must be new here."""
        assert key not in self._blocks, f"the key of {block} is taken"
        assert block.key is None, f"{block} has a key already"
        block.key = key
        self._blocks[key] = block

    def forget(self, block: Block) -> None:
        """Take the key from a block, if it has one."""
        if block.key is not None:
            del self._blocks[block.key]
            block.key = None

    def longest_prefix(self, keys: Iterable[bytes]) -> list[Block]:
        """The blocks of the first keys, up to the first one that is not here."""
        found: list[Block] = []
        for key in keys:
            block = self._blocks.get(key)
            if block is None:
                break
            found.append(block)
        return found
