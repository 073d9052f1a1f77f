"""Why a prompt was not in the cache from some token on."""

from __future__ import annotations

from collections.abc import Sequence

from pagedesk.engine.scheduling.request import Request
from pagedesk.protocol import MissReason
from tests.helpers.scheduling import SmallEngine, spec, tokens

names = iter(range(10_000))


def ask(engine: SmallEngine, prompt: Sequence[int], *, chat: str = "c", max_tokens: int = 1) -> Request:
    """A request that has run to its end."""
    request = engine.add(spec(str(next(names)), prompt, chat=chat, max_tokens=max_tokens))
    engine.run()
    return request


def miss(request: Request) -> tuple[int | None, MissReason | None]:
    return request.cached_tokens, request.miss_reason


def test_the_first_prompt_of_all_is_new() -> None:
    assert miss(ask(SmallEngine(), tokens(6))) == (0, MissReason.NEW)


def test_a_prompt_that_is_asked_again_misses_nothing() -> None:
    engine = SmallEngine()
    ask(engine, tokens(6))
    assert miss(ask(engine, tokens(6))) == (5, None)


def test_what_comes_after_all_that_was_computed_is_new() -> None:
    engine = SmallEngine()
    ask(engine, tokens(6))
    assert miss(ask(engine, [*tokens(6), 500, 501])) == (6, MissReason.NEW)


def test_another_token_in_the_place_of_one_of_this_chat_was_edited() -> None:
    engine = SmallEngine(num_blocks=16)
    ask(engine, tokens(12))
    assert miss(ask(engine, [*tokens(6), 500, 501])) == (6, MissReason.EDITED)


def test_another_token_at_the_start_of_a_block_was_edited() -> None:
    engine = SmallEngine(num_blocks=16)
    ask(engine, tokens(12))
    assert miss(ask(engine, [*tokens(8), 500, 501])) == (8, MissReason.EDITED)


def test_where_only_another_chat_goes_on_differently_a_token_is_new() -> None:
    engine = SmallEngine(num_blocks=16)
    ask(engine, tokens(12), chat="other")
    assert miss(ask(engine, [*tokens(6), 500, 501])) == (6, MissReason.NEW)


def test_an_edit_is_told_after_a_branch_has_used_the_text_too() -> None:
    engine = SmallEngine(num_blocks=16)
    ask(engine, tokens(12))
    ask(engine, tokens(14), chat="branch")
    assert miss(ask(engine, [*tokens(6), 500, 501])) == (6, MissReason.EDITED)


def test_a_tail_that_had_to_go_was_evicted() -> None:
    engine = SmallEngine(num_blocks=6)
    ask(engine, tokens(16))
    ask(engine, tokens(13, start=100), chat="other")
    assert miss(ask(engine, tokens(17))) == (8, MissReason.EVICTED)


def test_a_chat_that_had_to_go_as_a_whole_was_evicted() -> None:
    engine = SmallEngine(num_blocks=4)
    ask(engine, tokens(9))
    ask(engine, tokens(16, start=100), chat="other")
    assert miss(ask(engine, tokens(9))) == (0, MissReason.EVICTED)


def test_a_text_that_was_evicted_and_then_edited_was_edited() -> None:
    engine = SmallEngine(num_blocks=4)
    ask(engine, tokens(9))
    ask(engine, tokens(12, start=100), chat="other")
    assert miss(ask(engine, [*tokens(4), 500, 501])) == (4, MissReason.EDITED)


def test_a_prompt_that_lost_its_turn_keeps_its_first_reason() -> None:
    engine = SmallEngine(num_blocks=4)
    first = engine.add(spec("first", tokens(3), max_tokens=12))
    second = engine.add(spec("second", tokens(3, start=100), max_tokens=12))
    engine.run()
    assert [miss(first), miss(second)] == [(0, MissReason.NEW), (0, MissReason.NEW)]
