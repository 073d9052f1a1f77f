"""Which block is taken next, and what the cache still knows."""

from __future__ import annotations

from pagedesk.engine.scheduling.block_pool import BlockPool

KEYS = [bytes([i]) * 16 for i in range(8)]


def pool_with_cached(*block_ids: int, num_blocks: int = 4) -> BlockPool:
    """A pool whose given blocks were held, named and released in this order."""
    pool = BlockPool(num_blocks)
    held = {block.block_id: block for block in (pool.take("a") for _ in range(num_blocks))}
    for block_id in block_ids:
        pool.name(held[block_id], KEYS[block_id])
    for block_id in [*block_ids, *(i for i in reversed(range(num_blocks)) if i not in block_ids)]:
        pool.release(held[block_id], "a")
    pool.check_invariants()
    return pool


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
