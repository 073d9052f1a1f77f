"""Keys stand for whole prefixes, and a prefix is found up to its first missing block."""

from __future__ import annotations

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.prefix_cache import KEY_BYTES, PrefixCache, block_key


def test_a_key_has_sixteen_bytes() -> None:
    assert len(block_key(b"", [1, 2, 3])) == KEY_BYTES == 16


def test_a_key_depends_on_what_stands_before() -> None:
    assert block_key(b"x", [1, 2]) != block_key(b"y", [1, 2])


def test_a_key_depends_on_the_order_of_tokens() -> None:
    assert block_key(b"", [1, 2]) != block_key(b"", [2, 1])


def test_a_key_depends_on_the_extra() -> None:
    assert block_key(b"", [1, 2]) != block_key(b"", [1, 2], ("picture",))


def test_the_longest_prefix_ends_at_the_first_missing_block() -> None:
    cache, blocks, keys = PrefixCache(), [Block(i) for i in range(3)], [bytes([i]) for i in range(4)]
    for place in (0, 1, 2):
        cache.put(blocks[place], Content(b"", (place,), keys[place if place < 2 else 3], "a"))
    assert cache.longest_prefix(keys) == blocks[:2]


def test_a_block_that_got_more_tokens_is_found_by_them_alone() -> None:
    cache, block = PrefixCache(), Block(0)
    cache.put(block, Content(b"", (1,), None, "a"))
    cache.put(block, Content(b"", (1, 2), b"k", "a"))
    assert [child.token_ids for child in cache.children(b"")] == [(1, 2)]


def test_a_forgotten_block_is_found_in_no_way() -> None:
    cache, block = PrefixCache(), Block(0)
    cache.put(block, Content(b"", (1, 2), b"k", "a"))
    cache.forget(block)
    assert (cache.find(b"k"), cache.best_match(b"", (1, 2)), block.content) == (None, None, None)
