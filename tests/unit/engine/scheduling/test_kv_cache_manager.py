"""Exact block ids: admission, growth, forks, copies, and what is evicted first."""

from __future__ import annotations

import pytest

from pagedesk.engine.scheduling.block import Content
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.protocol import BlockState
from tests.helpers.scheduling import BLOCK, tokens

ids = iter(range(10_000))


def sequence(num_tokens: int, *, start: int = 1, chat: str = "a") -> Sequence:
    return Sequence(next(ids), chat, tokens(num_tokens, start))


def compute(manager: KVCacheManager, seq: Sequence) -> None:
    """Pretend that all its tokens were computed."""
    seq.num_computed_tokens = seq.num_tokens
    manager.commit(seq)
    manager.check_invariants()


def admit(manager: KVCacheManager, seq: Sequence) -> Sequence:
    assert manager.admit(seq, num_spare=0)
    manager.check_invariants()
    return seq


def computed(manager: KVCacheManager, seq: Sequence) -> Sequence:
    compute(manager, admit(manager, seq))
    return seq


def test_admission_takes_the_blocks_of_all_tokens() -> None:
    manager = KVCacheManager(8, BLOCK)
    assert admit(manager, sequence(9)).table.block_ids == (0, 1, 2)


def test_admission_hits_the_cached_prefix() -> None:
    manager = KVCacheManager(8, BLOCK)
    manager.free(computed(manager, sequence(9)))
    again = admit(manager, sequence(9))
    assert (again.table.block_ids[:2], again.num_computed_tokens) == ((0, 1), 8)


def test_admission_leaves_one_token_to_compute() -> None:
    manager = KVCacheManager(8, BLOCK)
    manager.free(computed(manager, sequence(8)))
    again = admit(manager, sequence(8))
    assert (again.table.block_ids, again.num_uncomputed_tokens, manager.take_copies()) == ((0, 2), 1, ((1, 2),))


@pytest.mark.parametrize("num_same", [5, 6, 7])
def test_of_a_cached_block_the_start_that_matches_is_copied(num_same: int) -> None:
    manager = KVCacheManager(8, BLOCK)
    manager.free(computed(manager, sequence(10)))
    edited = admit(manager, Sequence(next(ids), "a", [*tokens(num_same), 900, 901, 902]))
    assert edited.num_computed_tokens == num_same
    assert (edited.table.block_ids[:2], manager.take_copies()) == ((0, 3), ((1, 3),))


def test_of_a_held_block_the_start_that_matches_is_copied() -> None:
    manager = KVCacheManager(8, BLOCK)
    held = computed(manager, sequence(8))
    edited = admit(manager, Sequence(next(ids), "a", [*tokens(6), 900]))
    assert (held.table.block_ids, edited.table.block_ids, manager.take_copies()) == ((0, 1), (0, 2), ((1, 2),))


def test_of_a_held_partial_block_the_start_that_matches_is_copied() -> None:
    manager = KVCacheManager(8, BLOCK)
    computed(manager, sequence(7))
    edited = admit(manager, Sequence(next(ids), "a", [*tokens(7), 900]))
    assert (edited.num_computed_tokens, manager.take_copies()) == (7, ((1, 2),))


def test_what_is_not_computed_yet_is_not_copied() -> None:
    manager = KVCacheManager(8, BLOCK)
    admit(manager, sequence(7))
    again = admit(manager, sequence(7))
    assert (again.num_computed_tokens, manager.take_copies()) == (0, ())


def test_the_next_turn_goes_on_in_the_partial_block_of_the_last_one() -> None:
    manager = KVCacheManager(8, BLOCK)
    manager.free(computed(manager, sequence(6)))
    longer = admit(manager, sequence(9))
    assert (longer.table.block_ids, longer.num_computed_tokens, manager.take_copies()) == ((0, 1, 2), 6, ())


def test_the_best_of_many_continuations_is_copied() -> None:
    manager = KVCacheManager(8, BLOCK)
    for tail in ([50, 51, 52], [60, 61, 62], [60, 71, 72]):
        manager.free(computed(manager, Sequence(next(ids), "a", [*tokens(4), *tail])))
    edited = admit(manager, Sequence(next(ids), "a", [*tokens(4), 60, 61, 99]))
    assert (edited.num_computed_tokens, manager.take_copies()) == (6, ((2, 4),))


def test_the_source_of_a_copy_is_not_taken_for_another_in_the_same_step() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(8)))
    admit(manager, Sequence(next(ids), "a", [*tokens(6), 900]))
    assert not manager.admit(sequence(5, start=200), num_spare=0)
    manager.take_copies()
    assert manager.admit(sequence(5, start=200), num_spare=0)


def test_without_room_to_keep_its_source_a_copy_is_not_made() -> None:
    manager = KVCacheManager(3, BLOCK)
    manager.free(computed(manager, sequence(12)))
    edited = admit(manager, Sequence(next(ids), "a", [*tokens(6), *tokens(6, start=900)]))
    assert (edited.num_computed_tokens, manager.take_copies()) == (4, ())


def test_a_source_that_its_holder_frees_in_the_same_step_survives_it() -> None:
    manager = KVCacheManager(5, BLOCK)
    held = computed(manager, sequence(8))
    admit(manager, Sequence(next(ids), "a", [*tokens(6), 900]))
    manager.free(held)
    manager.check_invariants()
    assert (manager.pool.num_available, manager.take_copies(), manager.pool.num_available) == (2, ((1, 2),), 3)


def test_a_copy_for_a_sequence_that_lost_its_turn_lets_its_source_go() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(8)))
    manager.free(admit(manager, Sequence(next(ids), "a", [*tokens(6), 900])))
    manager.check_invariants()
    assert (manager.pool.eviction_order(), manager.take_copies()) == ([2, 3, 1, 0], ())


def test_a_sequence_that_lost_its_turn_finds_all_that_it_computed() -> None:
    manager = KVCacheManager(8, BLOCK)
    seq = computed(manager, sequence(10))
    manager.free(seq)
    seq.token_ids.append(900)
    assert admit(manager, seq).num_computed_tokens == 10


def test_what_a_failed_step_wrote_to_is_not_cache() -> None:
    manager = KVCacheManager(8, BLOCK)
    seq = computed(manager, sequence(6))
    seq.token_ids.append(900)
    assert manager.grow(seq, 1)
    manager.distrust(seq)
    manager.free(seq)
    assert admit(manager, sequence(9)).num_computed_tokens == 4


def test_a_copy_of_the_cache_is_no_copy_on_write() -> None:
    manager = KVCacheManager(8, BLOCK)
    manager.free(computed(manager, sequence(8)))
    admit(manager, sequence(8))
    assert (len(manager.take_copies()), manager.num_copied_blocks) == (1, 0)


def test_admission_that_needs_too_much_changes_nothing() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(9)))
    order = manager.pool.eviction_order()
    assert not manager.admit(sequence(17), num_spare=0)
    assert manager.pool.eviction_order() == order


def test_cached_blocks_that_a_prompt_revives_do_not_count_as_room() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(16)))
    assert not manager.admit(sequence(17), num_spare=0)


def test_admission_leaves_the_spare_blocks() -> None:
    manager = KVCacheManager(4, BLOCK)
    assert not manager.admit(sequence(12), num_spare=2)


def test_growth_takes_a_block_only_when_the_last_is_full() -> None:
    manager = KVCacheManager(8, BLOCK)
    seq = computed(manager, sequence(7))
    lengths = []
    for token in range(3):
        seq.token_ids.append(token)
        assert manager.grow(seq, 1)
        compute(manager, seq)
        lengths.append(len(seq.table))
    assert lengths == [2, 3, 3]


def test_growth_without_room_changes_nothing() -> None:
    manager = KVCacheManager(2, BLOCK)
    seq = computed(manager, sequence(8))
    seq.token_ids.append(0)
    assert not manager.grow(seq, 1)
    assert seq.table.block_ids == (0, 1)


def test_a_fork_costs_no_block() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(10)), sequence(10)
    manager.fork(parent, child, 10)
    manager.check_invariants()
    assert (child.table.block_ids, manager.pool.num_available) == ((0, 1, 2), 5)


def test_a_fork_at_a_block_boundary_shares_full_blocks_only() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(10)), sequence(10)
    manager.fork(parent, child, 8)
    assert child.table.block_ids == (0, 1)


@pytest.mark.parametrize("num_tokens", range(11))
def test_a_fork_at_any_token_writes_on_without_touching_the_other(num_tokens: int) -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(10)), sequence(num_tokens)
    manager.fork(parent, child, num_tokens)
    child.token_ids.append(900)
    assert manager.grow(child, 1)
    manager.take_copies()
    compute(manager, child)
    written = child.table[num_tokens // BLOCK]
    assert (written in parent.table, parent.table.block_ids) == (False, (0, 1, 2))


def test_a_fork_that_is_left_alone_with_a_block_keeps_what_it_shares_of_it() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(8)), sequence(6)
    manager.fork(parent, child, 6)
    manager.free(parent)
    child.token_ids.append(900)
    assert manager.grow(child, 1)
    manager.check_invariants()
    assert (child.table.block_ids, manager.take_copies(), child.table[1].content) == (
        (0, 1),
        (),
        Content(child.table[0].key or b"", (5, 6), None, "a"),
    )


def test_the_first_writer_of_a_shared_block_copies_it_and_the_last_does_not() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(6)), sequence(6)
    manager.fork(parent, child, 6)
    for seq in (parent, child):
        seq.token_ids.append(900 + seq.sequence_id)
        assert manager.grow(seq, 1)
    assert (parent.table.block_ids, child.table.block_ids, manager.take_copies()) == ((0, 2), (0, 1), ((1, 2),))


def test_copies_are_given_once() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(6)), sequence(6)
    manager.fork(parent, child, 6)
    assert manager.grow(parent, 1)
    assert (len(manager.take_copies()), manager.take_copies(), manager.num_copied_blocks) == (1, (), 1)


def test_a_copy_for_a_sequence_that_lost_its_blocks_is_not_made() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(6)), sequence(6)
    manager.fork(parent, child, 6)
    assert manager.grow(parent, 1)
    manager.free(parent)
    assert manager.take_copies() == ()


def test_a_full_block_that_exists_already_is_shared_and_the_own_one_given_back() -> None:
    manager = KVCacheManager(8, BLOCK)
    first, second = admit(manager, sequence(5)), admit(manager, sequence(5, chat="b"))
    compute(manager, first)
    compute(manager, second)
    assert (second.table.block_ids, manager.pool.eviction_order()[0]) == ((0, 3), 2)


def test_a_freed_sequence_loses_its_tail_first() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(16)))
    assert manager.pool.eviction_order() == [3, 2, 1, 0]


def test_a_cold_chat_loses_its_tail_before_a_warmer_one_loses_anything() -> None:
    manager = KVCacheManager(6, BLOCK)
    cold, warm = computed(manager, sequence(12)), computed(manager, sequence(12, start=100, chat="b"))
    manager.free(cold)
    manager.free(warm)
    assert manager.pool.eviction_order() == [2, 1, 0, 5, 4, 3]


def test_the_shared_start_of_two_chats_outlives_both_tails() -> None:
    manager = KVCacheManager(4, BLOCK)
    first = computed(manager, Sequence(next(ids), "a", [1, 2, 3, 4, 10, 11, 12, 13]))
    second = computed(manager, Sequence(next(ids), "b", [1, 2, 3, 4, 20, 21, 22, 23]))
    manager.free(first)
    manager.free(second)
    assert manager.pool.eviction_order() == [3, 1, 2, 0]


def test_an_unfinished_block_keeps_its_tokens_after_its_sequence() -> None:
    manager = KVCacheManager(4, BLOCK)
    manager.free(computed(manager, sequence(6)))
    content = manager.pool.blocks[1].content
    assert content is not None
    assert (content.token_ids, content.key, manager.pool.eviction_order()) == ((5, 6), None, [2, 3, 1, 0])


def test_a_chat_in_the_cold_loses_its_tail_block_by_block_and_is_found_up_to_there() -> None:
    manager = KVCacheManager(6, BLOCK)
    manager.free(computed(manager, sequence(24)))
    found = []
    for round_ in range(3):
        manager.free(computed(manager, sequence(8, start=100 * (round_ + 1), chat="b")))
        found.append(sum(manager.pool.cache.find(key) is not None for key in sequence(24).keys(6, BLOCK, b"")))
    assert found == [4, 2, 0]


def test_a_start_that_was_used_again_outlives_a_chat_that_was_not() -> None:
    manager = KVCacheManager(6, BLOCK)
    manager.free(computed(manager, sequence(12)))
    manager.free(computed(manager, sequence(12, start=100, chat="b")))
    manager.free(computed(manager, sequence(5)))
    assert manager.pool.eviction_order() == [2, 1, 5, 4, 3, 0]


def test_the_root_key_keeps_models_apart() -> None:
    one, other = KVCacheManager(4, BLOCK, b"one"), KVCacheManager(4, BLOCK, b"other")
    blocks = [computed(manager, sequence(4)).table[0] for manager in (one, other)]
    assert blocks[0].key != blocks[1].key


def test_the_map_counts_shared_blocks_and_what_sharing_saves() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent = computed(manager, sequence(10))
    for _ in range(2):
        manager.fork(parent, sequence(10), 10)
    pool_map = manager.pool.map
    assert (pool_map.num_in_state[BlockState.SHARED], pool_map.num_spared) == (3, 6)


def test_peaks_stay_after_everything_is_freed() -> None:
    manager = KVCacheManager(8, BLOCK)
    parent, child = computed(manager, sequence(10)), sequence(10)
    manager.fork(parent, child, 8)
    manager.free(child)
    manager.free(parent)
    assert (manager.pool.map.peak_held, manager.pool.map.peak_shared) == (3, 2)
