"""What n answers to one question cost, and what the counters say of it."""

from __future__ import annotations

from collections import Counter

from pagedesk.engine.scheduling.request import Request
from pagedesk.geometry import blocks_for
from tests.helpers.scheduling import SmallEngine, spec, tokens

NUM_PROMPT_TOKENS = 1000
NUM_ANSWER_TOKENS = 20
NUM_ANSWERS = 8
BLOCK_SIZE = 16


def engine_with(num_answers: int) -> tuple[SmallEngine, Request]:
    engine = SmallEngine(256, budget=1024, max_len=2000, block_size=BLOCK_SIZE)
    prompt = tokens(NUM_PROMPT_TOKENS)
    return engine, engine.add(spec("a", prompt, answers=num_answers, max_tokens=NUM_ANSWER_TOKENS))


def test_eight_answers_hold_their_prompt_once_and_their_own_tails() -> None:
    engine, _ = engine_with(NUM_ANSWERS)
    engine.run()
    prompt_blocks = blocks_for(NUM_PROMPT_TOKENS, BLOCK_SIZE)
    tails = NUM_ANSWERS * blocks_for(NUM_ANSWER_TOKENS, BLOCK_SIZE)
    assert engine.manager.pool.map.peak_held <= 1.15 * prompt_blocks + tails


def test_saved_blocks_are_the_references_beyond_the_first_at_every_step() -> None:
    engine, request = engine_with(NUM_ANSWERS)
    seen = []
    while engine.scheduler.has_work:
        engine.step()
        named = Counter(block_id for sequence in request.sequences for block_id in sequence.table.block_ids)
        seen.append((engine.manager.pool.map.num_spared, sum(count - 1 for count in named.values())))
    assert all(counted == saved for counted, saved in seen)
    assert max(counted for counted, _ in seen) == (NUM_ANSWERS - 1) * blocks_for(NUM_PROMPT_TOKENS, BLOCK_SIZE)


def test_an_answer_that_is_asked_for_again_computes_one_token_of_the_prompt() -> None:
    engine, _ = engine_with(1)
    engine.run()
    before = engine.scheduler.prompt_tokens
    engine.add(spec("again", tokens(NUM_PROMPT_TOKENS), seed=8, max_tokens=1))
    engine.run()
    assert engine.scheduler.prompt_tokens - before == 1
