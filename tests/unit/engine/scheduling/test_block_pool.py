"""Which block is taken next, and what the cache still knows."""

from __future__ import annotations

from pagedesk.engine.scheduling.block import Block, Content
from pagedesk.engine.scheduling.block_pool import BlockPool

ROOT = b""
KEYS = [bytes([i]) * 16 for i in range(8)]


def full(index: int, parent: bytes = ROOT) -> Content:
    """What a full block holds; its text is its index."""
    return Content(parent, (index, index), KEYS[index], "a")


def partial(*token_ids: int, parent: bytes = ROOT) -> Content:
    return Content(parent, token_ids, None, "a")


def pool_with_cached(*block_ids: int, num_blocks: int = 4) -> BlockPool:
    """A pool whose given blocks were held, filled and released in this order."""
    pool = BlockPool(num_blocks)
    held = {block.block_id: block for block in (pool.take("a") for _ in range(num_blocks))}
    for block_id in block_ids:
        pool.fill(held[block_id], full(block_id))
    for block_id in [*block_ids, *(i for i in reversed(range(num_blocks)) if i not in block_ids)]:
        pool.release(held[block_id], "a")
    pool.check_invariants()
    return pool


def chain_in(pool: BlockPool, length: int) -> list[Block]:
    """Held blocks 0, 1, 2 ..., each the parent of the next."""
    blocks = [pool.take("a") for _ in range(length)]
    for index, block in enumerate(blocks):
        pool.fill(block, full(index, KEYS[index - 1] if index else ROOT))
    return blocks


def test_a_new_pool_gives_its_blocks_by_id() -> None:
    pool = BlockPool(3)
    assert [pool.take("a").block_id for _ in range(3)] == [0, 1, 2]


def test_empty_blocks_are_taken_before_cached_ones() -> None:
    assert pool_with_cached(0, 2).eviction_order() == [1, 3, 0, 2]


def test_the_longest_unused_cached_block_is_taken_first() -> None:
    assert pool_with_cached(3, 0, 2, 1).eviction_order() == [3, 0, 2, 1]


def test_a_released_block_is_still_found_by_its_key() -> None:
    pool = pool_with_cached(2)
    assert pool.cache.find(KEYS[2]) is pool.blocks[2]


def test_a_taken_block_is_found_no_more() -> None:
    pool = pool_with_cached(3, 0, 2, 1)
    pool.take("a")
    assert pool.cache.find(KEYS[3]) is None


def test_a_hit_takes_the_block_out_of_the_middle_of_the_order() -> None:
    pool = pool_with_cached(3, 0, 2, 1)
    pool.hold(pool.blocks[0], "a")
    assert pool.eviction_order() == [3, 2, 1]


def test_a_hit_makes_the_block_the_last_to_be_taken_after_its_release() -> None:
    pool = pool_with_cached(3, 0, 2, 1)
    pool.hold(pool.blocks[0], "a")
    pool.release(pool.blocks[0], "a")
    assert pool.eviction_order() == [3, 2, 1, 0]


def test_a_block_that_a_second_table_names_stays_held_after_one_release() -> None:
    pool = BlockPool(2)
    block = pool.take("a")
    pool.hold(block, "b")
    pool.release(block, "a")
    assert (block.holders, pool.eviction_order()) == (["b"], [1])


def test_a_cached_block_remembers_whose_it_was() -> None:
    assert pool_with_cached(2).blocks[2].last_owner == "a"


def test_an_empty_block_remembers_nobody() -> None:
    assert pool_with_cached(2).blocks[1].last_owner is None


def test_what_followed_a_lost_block_goes_before_all_other_cache_its_end_first() -> None:
    pool = BlockPool(6)
    other = pool.take("b")
    pool.fill(other, full(7))
    pool.release(other, "b")
    chain = chain_in(pool, 4)
    for block in reversed(chain[1:]):
        pool.release(block, "a")
    pool.truncate(chain[0], 1)
    pool.check_invariants()
    assert pool.eviction_order() == [5, 4, 3, 2, 0]


def test_a_block_that_is_released_without_its_parent_is_an_orphan() -> None:
    pool = pool_with_cached(0, num_blocks=3)
    orphan = pool.take("a")
    pool.fill(orphan, full(5, KEYS[4]))
    pool.release(orphan, "a")
    assert pool.eviction_order() == [2, 1, 0]


def test_a_block_that_a_copy_reads_is_not_taken() -> None:
    pool = pool_with_cached(3, 0, 2, 1)
    pool.pin(pool.blocks[3])
    pool.check_invariants()
    assert (pool.eviction_order(), pool.num_available) == ([0, 2, 1], 3)


def test_after_the_copy_a_source_is_the_last_to_be_taken() -> None:
    pool = pool_with_cached(3, 0, 2, 1)
    pool.pin(pool.blocks[3])
    pool.unpin(pool.blocks[3])
    pool.check_invariants()
    assert pool.eviction_order() == [0, 2, 1, 3]


def test_a_source_that_its_last_holder_lets_go_stays_until_the_copy_is_made() -> None:
    pool = BlockPool(1)
    block = pool.take("a")
    pool.fill(block, full(0))
    pool.pin(block)
    pool.release(block, "a")
    assert pool.num_available == 0
    pool.unpin(block)
    assert pool.cache.find(KEYS[0]) is block


def test_a_partial_block_is_cache_after_its_release() -> None:
    pool = BlockPool(2)
    block = pool.take("a")
    pool.fill(block, partial(4, 5, 6))
    pool.release(block, "a")
    pool.check_invariants()
    match = pool.cache.best_match(ROOT, (4, 5, 9))
    assert match is not None
    assert (match.child.value, match.num_tokens) == (block, 2)


def test_a_partial_block_of_which_another_holds_everything_is_empty_after_its_release() -> None:
    pool = BlockPool(2)
    longer, shorter = pool.take("a"), pool.take("a")
    pool.fill(longer, partial(4, 5, 6))
    pool.fill(shorter, partial(4, 5))
    pool.release(shorter, "a")
    pool.check_invariants()
    assert shorter.content is None


def test_a_block_that_is_written_anew_keeps_the_tokens_before() -> None:
    pool = BlockPool(1)
    block = pool.take("a")
    pool.fill(block, full(0))
    pool.truncate(block, 1)
    pool.check_invariants()
    assert block.content == partial(0)


def test_a_block_that_is_written_from_its_start_holds_nothing() -> None:
    pool = BlockPool(1)
    block = pool.take("a")
    pool.fill(block, full(0))
    pool.truncate(block, 0)
    assert block.content is None


def test_what_a_taken_block_held_is_remembered_as_evicted() -> None:
    pool = pool_with_cached(0, num_blocks=1)
    pool.take("b")
    assert pool.evictions.num_matching(ROOT, (0, 0, 1)) == 2
