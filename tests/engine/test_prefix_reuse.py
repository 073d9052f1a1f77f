"""Chats that take turns, ask again and edit: each computes only what it must, and says what it would say alone.

A tiny random model in float32: what it says depends on every number in the cache.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine, load_engine
from pagedesk.engine.scheduling.child_index import num_common
from pagedesk.protocol import DType, Finished, Message, MissReason, Role, TextPart, Usage
from tests.helpers.engines import of_kind, run, submit, text_of, tokens_of
from tests.helpers.tiny_gguf import write_tiny_gguf

FRUIT = "Please tell me about all the fruits in the world, one after the other."
WATER = "Please tell me about all the waters in the world, one after the other."


@dataclass
class Asked:
    """An answer, and what it cost."""

    history: list[Message]
    text: str
    usage: Usage

    @property
    def computed_of_prompt(self) -> int:
        """Prompt tokens that were computed."""
        return self.usage.prompt_tokens - self.usage.cached_tokens

    @property
    def num_in_cache(self) -> int:
        """Tokens in the cache after it: all but the last one of the answer."""
        return self.usage.prompt_tokens + self.usage.completion_tokens - 1


def new_engine(model: Path) -> Engine:
    return load_engine(EngineConfig(model, DType.FLOAT32, "cpu", num_blocks=64), lambda *_: None)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture
def engine(model: Path) -> Iterator[Engine]:
    engine = new_engine(model)
    yield engine
    engine.close()


def ask(engine: Engine, text: str, history: Sequence[Message] = (), *, chat: str = "c") -> Asked:
    engine.add(submit("r", text, chat=chat, history=history, max_tokens=21, temperature=0.0, ignore_eos=True))
    events = run(engine)
    [finished] = of_kind(events, Finished)
    reply = Message(Role.ASSISTANT, (TextPart(text_of(events)),), tokens_of(events))
    return Asked([*history, Message.of(Role.USER, text), reply], text_of(events), finished.usage)


def text_without_cache(model: Path, asked: Asked) -> str:
    engine = new_engine(model)
    *history, question, _ = asked.history
    text = ask(engine, question.text, history).text
    engine.close()
    return text


def test_two_chats_in_alternation_compute_only_their_new_tokens(engine: Engine, model: Path) -> None:
    last = {"fruit": ask(engine, FRUIT, chat="fruit"), "water": ask(engine, WATER, chat="water")}
    for text in ("And then?", "More.", "Why?"):
        for chat, before in last.items():
            asked = ask(engine, text, before.history, chat=chat)
            assert asked.computed_of_prompt == asked.usage.prompt_tokens - before.num_in_cache
            assert asked.usage.miss_reason == MissReason.NEW
            assert asked.text == text_without_cache(model, asked)
            last[chat] = asked


def test_a_second_chat_computes_from_the_first_different_token_on(engine: Engine, model: Path) -> None:
    ask(engine, FRUIT, chat="fruit")
    asked = ask(engine, WATER, chat="water")
    prompts = [engine._prompts.raw([Message.of(Role.USER, f"<|im_start|>user\n{text}")]) for text in (FRUIT, WATER)]
    assert asked.usage.first_missed_index == num_common(*prompts) > 16
    assert asked.text == text_without_cache(model, asked)


def test_regenerating_computes_one_token_of_the_prompt(engine: Engine, model: Path) -> None:
    first = ask(engine, FRUIT)
    asked = ask(engine, FRUIT)
    assert (asked.computed_of_prompt, asked.usage.miss_reason) == (1, None)
    assert asked.text == first.text == text_without_cache(model, asked)


def test_an_edit_near_the_end_computes_from_the_edit_on(engine: Engine, model: Path) -> None:
    first = ask(engine, FRUIT)
    second = ask(engine, "Which one is red?", first.history)
    edited = ask(engine, "Which one is big?", first.history)
    same = num_common(
        *(engine._prompts.raw([Message.of(Role.USER, text)]) for text in ("Which one is red?", "Which one is big?"))
    )
    start = second.usage.prompt_tokens - len(
        engine._prompts.raw([Message.of(Role.USER, "Which one is red?<|im_end|>\n<|im_start|>assistant\n")])
    )
    assert (edited.usage.first_missed_index, edited.usage.miss_reason) == (start + same, MissReason.EDITED)
    assert edited.text == text_without_cache(model, edited)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_a_model_whose_name_is_no_text_answers(tmp_path: Path) -> None:
    model = write_tiny_gguf(tmp_path / os.fsdecode(b"\xff\xfe.gguf"))
    engine = load_engine(EngineConfig(model, DType.FLOAT32, "cpu", num_blocks=64), lambda *_: None)
    engine.add(submit("r"), 0.0)
    assert of_kind(run(engine), Finished)
    engine.close()
