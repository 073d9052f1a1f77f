from __future__ import annotations

from pagedesk.protocol import BlockState
from pagedesk.ui.gauge.block_facts import BlockFacts
from tests.helpers.snapshots import MB, cached, free, owned, shared, snapshot_of

BLOCKS = [free(), owned("b"), shared("a", "b", "c", ref_count=5), cached("a")]


def facts(block_id: int) -> BlockFacts:
    return BlockFacts.of(snapshot_of(BLOCKS), block_id)


def test_a_free_block_has_no_chat() -> None:
    assert facts(0) == BlockFacts(0, BlockState.FREE, (), 0, 0, 2 * MB)


def test_an_owned_block_names_its_chat() -> None:
    assert facts(1) == BlockFacts(1, BlockState.OWNED, ("b",), 1, 1, 2 * MB)


def test_a_shared_block_names_two_chats_and_counts_all() -> None:
    assert facts(2) == BlockFacts(2, BlockState.SHARED, ("a", "b"), 3, 5, 2 * MB)


def test_a_cached_block_names_the_chat_that_held_it_last() -> None:
    assert facts(3) == BlockFacts(3, BlockState.CACHED, ("a",), 0, 0, 2 * MB)
