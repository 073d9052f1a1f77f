"""The picture for the gauge: states, owners and counts by chat."""

from __future__ import annotations

from pagedesk.engine.scheduling.block import Content
from pagedesk.engine.scheduling.block_pool import BlockPool
from pagedesk.engine.scheduling.chat_tally import ChatTally
from pagedesk.protocol import NO_OWNER, BlockState, ChatBlocks

CONTENT = Content(b"", (1, 2), b"k" * 16, "b")


def test_two_chats_that_hold_a_block_are_both_named() -> None:
    pool = BlockPool(2)
    pool.hold(pool.take("a"), "b")
    owners, seconds = memoryview(pool.map.owners()).cast("H"), memoryview(pool.map.second_owners()).cast("H")
    assert (list(owners), list(seconds), list(pool.map.num_owners())) == ([0, NO_OWNER], [1, NO_OWNER], [2, 0])


def test_two_tables_of_one_chat_share_a_block_with_one_owner() -> None:
    pool = BlockPool(1)
    pool.hold(pool.take("a"), "a")
    assert (pool.map.states()[0], pool.map.ref_counts()[0], pool.map.num_owners()[0]) == (BlockState.SHARED, 2, 1)


def test_a_cached_block_keeps_its_last_owner_and_counts_no_holder() -> None:
    pool = BlockPool(1)
    block = pool.take("a")
    pool.fill(block, CONTENT)
    pool.release(block, "a")
    assert (list(memoryview(pool.map.owners()).cast("H")), pool.map.num_owners()[0]) == ([0], 0)


def test_the_tally_counts_a_chat_by_state() -> None:
    pool = BlockPool(3)
    pool.hold(pool.take("a"), "b")
    pool.take("a")
    cached = pool.take("b")
    pool.fill(cached, CONTENT)
    pool.release(cached, "b")
    assert pool.map.tally.counts() == (ChatBlocks("a", 1, 1, 0), ChatBlocks("b", 0, 1, 1))


def test_more_than_255_tables_count_as_255() -> None:
    pool = BlockPool(1)
    block = pool.take("a")
    for _ in range(300):
        pool.hold(block, "a")
    assert pool.map.ref_counts()[0] == 255


def test_the_number_of_a_chat_without_blocks_goes_to_the_next_chat() -> None:
    tally = ChatTally()
    tally.remove(tally.add("gone", BlockState.OWNED), BlockState.OWNED)
    assert (tally.add("new", BlockState.OWNED), [chat.chat_id for chat in tally.counts()]) == (0, ["new"])


def test_the_number_of_a_chat_with_blocks_stays() -> None:
    tally = ChatTally()
    first = tally.add("a", BlockState.CACHED)
    assert (first, tally.add("b", BlockState.OWNED), tally.add("a", BlockState.OWNED)) == (0, 1, 0)
