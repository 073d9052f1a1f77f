"""Chats that outgrow the context, through the whole engine: what is left out, what is told, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pagedesk.engine.engine import Engine
from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.text.detokenizer import decode, token_bytes
from pagedesk.engine.text.vocabulary import Vocabulary
from pagedesk.protocol import Event, Finished, Message, Overflow, Role, Started, Submit, TextPart, TurnsDropped
from tests.helpers.engines import endings, fake_engine, of_kind, run, submit
from tests.helpers.tiny_vocabulary import byte_level_metadata

CONTEXT = 400


def turns(num_turns: int, size: int = 40) -> Iterator[Message]:
    """Questions and replies of so many tokens each."""
    for index in range(num_turns):
        yield Message.of(Role.USER, f"{index % 10}" * size)
        yield Message.of(Role.ASSISTANT, f"{index % 10}" * size)


def long_chat(num_turns: int, request_id: str = "r", system: str = "", **options: object) -> Submit:
    """A chat that asks one thing more, and may lose its oldest turns."""
    opening = [Message.of(Role.SYSTEM, system)] if system else []
    asked = submit(request_id, "and now?", history=[*opening, *turns(num_turns)], **options)  # type: ignore[arg-type]
    return replace(asked, overflow=Overflow.DROP_OLDEST)


def engine_of(num_blocks: int = 200) -> Engine:
    return fake_engine(num_blocks)[0]


def ask(engine: Engine, asked: Submit) -> list[Event]:
    return [*engine.add(asked), *run(engine)]


def prompt_tokens(asked: Submit) -> int:
    """The length of the prompt of a chat, on an engine of its own."""
    [started] = of_kind(ask(engine_of(), replace(asked, overflow=Overflow.STOP)), Started)
    return started.prompt_tokens


def test_a_chat_that_fits_loses_nothing() -> None:
    assert of_kind(ask(engine_of(), long_chat(2)), TurnsDropped) == []


def test_a_chat_that_has_outgrown_the_context_is_answered_without_its_oldest_turns() -> None:
    events = ask(engine_of(), long_chat(20))
    assert endings(events) == [("r", "length")]
    [dropped] = of_kind(events, TurnsDropped)
    assert dropped.num_messages % 2 == 0
    assert 0 < dropped.num_messages < 40


def test_what_was_left_out_is_told_before_the_request_starts() -> None:
    kinds = [type(event) for event in ask(engine_of(), long_chat(20))]
    assert kinds.index(TurnsDropped) < kinds.index(Started)


def test_the_prompt_is_that_of_the_chat_without_those_turns() -> None:
    [dropped, started, *_] = ask(engine_of(), long_chat(20))
    assert isinstance(dropped, TurnsDropped)
    assert isinstance(started, Started)
    num_left = 20 - dropped.num_messages // 2
    assert started.prompt_tokens == prompt_tokens(long_chat(num_left))


def test_no_turn_goes_that_has_room_beside_the_reply() -> None:
    [dropped] = of_kind(ask(engine_of(), long_chat(20, max_tokens=None)), TurnsDropped)
    num_left = 20 - dropped.num_messages // 2
    assert prompt_tokens(long_chat(num_left)) <= CONTEXT * 3 // 4 < prompt_tokens(long_chat(num_left + 1))


def test_a_short_reply_needs_less_room() -> None:
    [long] = of_kind(ask(engine_of(), long_chat(20, max_tokens=None)), TurnsDropped)
    [short] = of_kind(ask(engine_of(), long_chat(20, max_tokens=2)), TurnsDropped)
    assert short.num_messages < long.num_messages


def test_the_tokens_that_were_left_out_are_what_the_prompt_would_be_longer_by() -> None:
    turn = prompt_tokens(long_chat(2)) - prompt_tokens(long_chat(1))
    [dropped] = of_kind(ask(engine_of(), long_chat(5, max_tokens=None)), TurnsDropped)
    assert (dropped.num_messages, dropped.num_tokens) == (6, 3 * turn)


def test_the_system_prompt_stays() -> None:
    engine, runner = fake_engine(200)
    engine.add(long_chat(20, system="SYSTEM"))
    run(engine)
    prompt = decode(token_bytes(Vocabulary(byte_level_metadata())), runner.plans[0].slices[0].token_ids)
    assert prompt.startswith("system\nSYSTEM\nuser\n")


def test_the_memory_of_a_small_pool_counts_as_the_context() -> None:
    events = ask(engine_of(num_blocks=50), long_chat(20))
    [started] = of_kind(events, Started)
    assert started.prompt_tokens + 6 <= 50 * 4
    assert endings(events) == [("r", "length")]


def test_replies_that_stay_go_in_with_their_own_ids() -> None:
    engine, runner = fake_engine(200)
    spelled = tuple(4 + letter for letter in b"user")  # a tokenizer would take the one token of the whole word
    reply = Message(Role.ASSISTANT, (TextPart("user"),), spelled)
    history = [*turns(20), Message.of(Role.USER, "hi"), reply]
    engine.add(replace(submit(text="more", history=history), overflow=Overflow.DROP_OLDEST))
    run(engine)
    computed = tuple(token_id for plan in runner.plans for part in plan.slices for token_id in part.token_ids)
    assert any(computed[start : start + 4] == spelled for start in range(len(computed)))


def test_without_the_policy_a_chat_that_does_not_fit_is_refused_as_before() -> None:
    asked = replace(long_chat(20), overflow=Overflow.STOP)
    with pytest.raises(InvalidRequestError, match="this model takes at most 400 with the answer"):
        engine_of().add(asked)


def test_a_newest_question_that_does_not_fit_by_itself_is_refused_with_its_own_length() -> None:
    asked = replace(submit(text="x" * 500, history=turns(4)), overflow=Overflow.DROP_OLDEST)
    with pytest.raises(
        InvalidRequestError, match="The prompt is 516 tokens, this model takes at most 400 with the answer"
    ):
        engine_of().add(asked)


def test_a_question_that_fits_but_for_the_room_of_the_reply_is_answered() -> None:
    asked = replace(submit(text="x" * 370, history=turns(4), max_tokens=None), overflow=Overflow.DROP_OLDEST)
    events = ask(engine_of(), asked)
    [finished] = of_kind(events, Finished)
    assert (of_kind(events, TurnsDropped)[0].num_messages, finished.usage.completion_tokens) == (8, 14)
