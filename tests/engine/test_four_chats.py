"""On the real starter model, in float32: company changes nothing about what is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine, load_engine
from pagedesk.protocol import DType, Finished, Message, Role, TextPart, Waiting
from tests.helpers.engines import of_kind, run, submit, text_of, tokens_of
from tests.helpers.starter import starter_model

NUM_TOKENS = 32
QUESTIONS = {
    "a": "What is the capital of France?",
    "b": "日本の首都はどこですか。",
    "c": "Write a Python function that adds two numbers.",
    "d": "Tell me a short story about a 👨‍👩‍👧 who live by the sea. " * 8,
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    config = EngineConfig(starter_model(), dtype=DType.FLOAT32, device="cpu", num_blocks=96)
    engine = load_engine(config, lambda _stage, _done, _total: None)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def alone(engine: Engine) -> dict[str, str]:
    """What each chat gives when no other is there."""
    return {name: answer_alone(engine, name, f"alone {name}") for name in QUESTIONS}


def answer_alone(engine: Engine, name: str, request_id: str) -> str:
    engine.add(submit(request_id, QUESTIONS[name], chat=name, max_tokens=NUM_TOKENS, temperature=0.8, seed=11))
    return text_of(run(engine), request_id)


def test_four_chats_at_once_give_exactly_the_text_that_each_gives_alone(engine: Engine, alone: dict[str, str]) -> None:
    for name, question in QUESTIONS.items():
        engine.add(submit(name, question, chat=name, max_tokens=NUM_TOKENS, temperature=0.8, seed=11))
    events = run(engine)
    assert {name: text_of(events, name) for name in QUESTIONS} == alone


def test_a_chat_that_loses_its_turn_gives_the_same_text(alone: dict[str, str]) -> None:
    config = EngineConfig(starter_model(), dtype=DType.FLOAT32, device="cpu", num_blocks=12)
    small = load_engine(config, lambda _stage, _done, _total: None)
    for name in "abc":
        small.add(submit(name, QUESTIONS[name], chat=name, max_tokens=NUM_TOKENS, temperature=0.8, seed=11))
    events = run(small)
    small.close()
    assert of_kind(events, Waiting), "the pool is so small that one must lose its turn"
    assert [text_of(events, name) for name in "abc"] == [alone[name] for name in "abc"]


def test_an_answer_among_siblings_is_the_one_of_its_seed(engine: Engine, alone: dict[str, str]) -> None:
    engine.add(submit("n", QUESTIONS["a"], answers=3, max_tokens=NUM_TOKENS, temperature=0.8, seed=9))
    events = run(engine)
    assert text_of(events, "n", answer_index=2) == alone["a"]


def test_the_second_turn_finds_the_first_one_in_the_cache(engine: Engine) -> None:
    engine.add(submit("one", "Name three colours.", max_tokens=NUM_TOKENS, temperature=0.0))
    events = run(engine)
    reply = Message(Role.ASSISTANT, (TextPart(text_of(events, "one")),), tokens_of(events, "one"))
    history = [Message.of(Role.USER, "Name three colours."), reply]
    engine.add(submit("two", "And three more.", history=history, max_tokens=4, temperature=0.0))
    [first] = of_kind(events, Finished)
    [second] = of_kind(run(engine), Finished)
    computed = first.usage.prompt_tokens + first.usage.completion_tokens - 1
    assert second.usage.cached_tokens == computed
