"""Several groups of layers over one pool: exact blocks, what is found again, and what is lost first."""

from __future__ import annotations

from collections.abc import Sequence as Run

import pytest

from pagedesk.engine.scheduling.cache_claim import find_claim
from pagedesk.engine.scheduling.cache_group import cache_groups
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.sequence import Sequence
from pagedesk.protocol import BlockState, MissReason
from tests.helpers.scheduling import BLOCK, SmallEngine, spec, tokens

WINDOW = 6
CHUNK = 4
ids = iter(range(10_000))


def manager_of(num_blocks: int, windows: Run[int | None] = (None, WINDOW)) -> KVCacheManager:
    return KVCacheManager(num_blocks, BLOCK, windows=windows, max_step_tokens=CHUNK)


def sequence(token_ids: Run[int], *, groups: int = 2, chat: str = "a") -> Sequence:
    return Sequence(next(ids), chat, token_ids, groups)


def admit(manager: KVCacheManager, seq: Sequence) -> Sequence:
    assert manager.admit(seq, num_spare=0)
    manager.check_invariants()
    return seq


def compute(manager: KVCacheManager, seq: Sequence) -> Sequence:
    """Pretend that its tokens were computed, in steps of a few."""
    while seq.num_uncomputed_tokens:
        num_tokens = min(seq.num_uncomputed_tokens, CHUNK)
        assert manager.grow(seq, num_tokens)
        manager.take_copies()
        seq.num_computed_tokens += num_tokens
        manager.commit(seq)
        manager.check_invariants()
    return seq


def computed(manager: KVCacheManager, token_ids: Run[int], **options: object) -> Sequence:
    return compute(manager, admit(manager, sequence(token_ids, **options)))  # type: ignore[arg-type]


def held(seq: Sequence) -> list[tuple[int, tuple[int, ...]]]:
    """First entry and block ids of each table."""
    return [(table.first_index, table.block_ids) for table in seq.tables]


def test_admission_takes_the_blocks_of_each_group_in_turn() -> None:
    assert held(admit(manager_of(16), sequence(tokens(10)))) == [(0, (0, 1, 2)), (0, (3, 4, 5))]


def test_a_group_with_a_window_takes_no_more_than_it_ever_holds() -> None:
    """A window of 6 and steps of 4 touch 9 tokens, which lie in at most 3 blocks."""
    assert held(admit(manager_of(16), sequence(tokens(40)))) == [(0, tuple(range(10))), (0, (10, 11, 12))]


def test_a_whole_text_fits_where_its_windows_do() -> None:
    manager = manager_of(13)
    computed(manager, tokens(40))
    assert manager.pool.num_available == 0


@pytest.mark.parametrize(("num_blocks", "longest"), [(2, 4), (6, 12), (8, 20), (13, 40), (15, 48)])
def test_the_longest_sequence_counts_a_window_once(num_blocks: int, longest: int) -> None:
    assert manager_of(num_blocks).longest_sequence(1000) == longest


def test_with_windows_alone_a_sequence_may_be_as_long_as_the_model_allows() -> None:
    assert manager_of(3, windows=(WINDOW,)).longest_sequence(1000) == 1000


def test_blocks_that_left_the_window_are_given_back_before_the_next_step() -> None:
    manager = manager_of(16)
    seq = computed(manager, tokens(20))
    seq.token_ids.append(900)
    assert manager.grow(seq, 1)
    assert [table.first_index for table in seq.tables] == [0, 3]


def test_a_text_without_end_needs_a_window_alone() -> None:
    manager = manager_of(3, windows=(WINDOW,))
    computed(manager, tokens(400), groups=1)
    assert manager.pool.num_available == 0


def test_no_group_finds_the_blocks_of_another() -> None:
    manager = manager_of(16, windows=(None, None))
    manager.free(computed(manager, tokens(9)))
    again = admit(manager, sequence(tokens(9)))
    first, second = (set(table.block_ids[:2]) for table in again.tables)
    assert (again.num_computed_tokens, first & second) == (8, set())


def test_the_next_turn_goes_on_in_the_last_block_of_every_group() -> None:
    manager = manager_of(16)
    manager.free(computed(manager, tokens(22)))
    longer = admit(manager, sequence(tokens(30)))
    assert (longer.num_computed_tokens, longer.tables[1].first_index, manager.take_copies()) == (22, 4, ())


def test_an_edit_copies_the_part_that_matches_in_every_group() -> None:
    manager = manager_of(24)
    manager.free(computed(manager, tokens(24)))
    edited = admit(manager, sequence([*tokens(22), 900, 901]))
    assert (edited.num_computed_tokens, len(manager.take_copies())) == (22, 2)


def test_a_start_is_found_as_long_as_its_window_is() -> None:
    """What left the window stays in the cache until it is needed, so an early start is found whole."""
    manager = manager_of(32)
    manager.free(computed(manager, tokens(40)))
    assert admit(manager, sequence([*tokens(14), 900, 901])).num_computed_tokens == 14


def test_where_a_window_is_gone_the_longest_start_whose_window_is_there_counts() -> None:
    manager = manager_of(13)
    manager.free(computed(manager, tokens(40)))
    early = sequence([*tokens(14), 900, 901])
    assert (admit(manager, early).num_computed_tokens, manager.explain_miss(early)) == (0, MissReason.EVICTED)


def test_the_end_of_that_text_is_found_nevertheless() -> None:
    manager = manager_of(14)
    manager.free(computed(manager, tokens(39)))
    assert admit(manager, sequence(tokens(40))).num_computed_tokens == 39


def test_what_left_a_window_is_taken_before_the_cache_of_any_chat() -> None:
    manager = manager_of(20)
    cold = computed(manager, tokens(8, start=500), chat="cold")
    manager.free(cold)
    computed(manager, tokens(40))
    again = admit(manager, sequence(tokens(9, start=500), chat="cold"))
    assert again.num_computed_tokens == 8


def test_the_oldest_of_them_is_taken_first() -> None:
    manager = manager_of(24)
    seq = computed(manager, tokens(40))
    spent = [block_id for block_id in manager.pool.eviction_order() if manager.pool.blocks[block_id].content]
    texts = [manager.pool.blocks[block_id].content.token_ids[0] for block_id in spent]  # type: ignore[union-attr]
    assert (texts, seq.tables[1].first_index) == ([1, 5, 9, 13, 17, 21, 25], 7)


def test_a_cold_chat_loses_its_tail_in_all_groups_at_once() -> None:
    manager = manager_of(16)
    manager.free(computed(manager, tokens(12)))
    contents = [manager.pool.blocks[block_id].content for block_id in manager.pool.eviction_order()]
    assert [content.token_ids[0] for content in contents if content is not None] == [1, 9, 9, 5, 5, 1]


def test_a_block_outside_the_window_of_its_text_is_no_orphan_without_what_stood_before_it() -> None:
    manager = manager_of(3, windows=(WINDOW,))
    manager.free(computed(manager, tokens(40), groups=1))
    assert admit(manager, sequence(tokens(41), groups=1)).num_computed_tokens == 40


def test_a_fork_shares_the_window_and_no_more() -> None:
    manager = manager_of(32)
    parent, child = computed(manager, tokens(22)), sequence(tokens(21))
    assert manager.fork(parent, child, 21)
    manager.check_invariants()
    assert [table.first_index for table in child.tables] == [0, 4]


def test_a_fork_before_the_window_of_its_parent_is_refused_and_changes_nothing() -> None:
    manager = manager_of(32)
    parent, child = computed(manager, tokens(22)), sequence(tokens(8))
    assert not manager.fork(parent, child, 8)
    manager.check_invariants()
    assert held(child) == [(0, ()), (0, ())]


def test_the_first_writer_after_a_fork_copies_a_block_of_every_group() -> None:
    manager = manager_of(32)
    parent, child = computed(manager, tokens(22)), sequence(tokens(22))
    assert manager.fork(parent, child, 22)
    child.token_ids.append(900)
    assert manager.grow(child, 1)
    assert (len(manager.take_copies()), manager.num_copied_blocks) == (2, 2)


def test_growth_that_needs_a_block_too_many_is_refused_in_every_group() -> None:
    manager = manager_of(5)
    seq = computed(manager, tokens(8))
    seq.token_ids.append(900)
    before = held(seq)
    assert not manager.grow(seq, 1)
    assert held(seq) == before


def test_a_sequence_that_lost_its_turn_finds_all_that_it_computed() -> None:
    manager = manager_of(16)
    seq = computed(manager, tokens(22))
    manager.free(seq)
    seq.token_ids.append(900)
    assert admit(manager, seq).num_computed_tokens == 22


def test_the_gauge_counts_the_blocks_of_all_groups() -> None:
    """Two answers share the three blocks of their prompt, and where there is a window the two that it reaches."""
    engine = SmallEngine(32, windows=(None, WINDOW), budget=CHUNK)
    engine.add(spec("a", tokens(10), chat="a", answers=2, max_tokens=6))
    while engine.scheduler.num_running < 2:
        engine.step()
    in_state = engine.manager.pool.map.num_in_state
    [counts] = engine.manager.pool.map.tally.counts()
    assert (counts.num_owned, counts.num_shared, counts.num_cached) == (
        in_state[BlockState.OWNED],
        in_state[BlockState.SHARED],
        in_state[BlockState.CACHED],
    )
    assert in_state[BlockState.SHARED] == 3 + 2


def test_a_newcomer_leaves_a_block_of_each_group_to_those_that_run() -> None:
    """Four blocks are left, the first newcomer needs two, and the one that runs may soon need two."""
    engine = SmallEngine(10, windows=(None, WINDOW), budget=8)
    engine.add(spec("a", tokens(8), max_tokens=4))
    engine.step()
    engine.add(spec("b", tokens(3, start=100), max_tokens=1))
    engine.add(spec("c", tokens(3, start=200), max_tokens=1))
    waits = engine.step().waiting
    assert [wait.request.spec.request_id for wait in waits] == ["c"]


@pytest.mark.parametrize("window", [1, 2, 5, 6, 9])
@pytest.mark.parametrize("num_lost", range(11))
def test_the_longest_start_is_claimed_whose_window_is_there_whatever_was_lost(window: int, num_lost: int) -> None:
    """All starts of a text of ten blocks, after the blocks that are lost first were taken for something else."""
    manager = manager_of(10, windows=(window,))
    manager.free(computed(manager, tokens(40), groups=1))
    for _ in range(num_lost):
        manager.pool.take("other")
    there = {content.token_ids[0] // BLOCK for block in manager.pool.blocks if (content := block.content)}
    groups = cache_groups((window,), BLOCK, CHUNK, b"")
    for length in range(1, 40):
        claim = find_claim(manager.pool.cache, sequence([*tokens(length), 900], groups=1), groups)
        assert claim.num_tokens == max(n for n in range(length + 1) if needed_blocks(n, window) <= there)


def needed_blocks(num_tokens: int, window: int) -> set[int]:
    """The blocks of the tokens that the token after `num_tokens` tokens looks at, and of those before it in its own."""
    seen = range(max(0, num_tokens - window + 1), num_tokens)
    return {position // BLOCK for position in seen} | ({num_tokens // BLOCK} if num_tokens % BLOCK else set())
