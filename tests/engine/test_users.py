"""Two minutes of people who never wait: twenty acts a second on the real engine, on its real thread.

They ask, ask again, edit, branch, stop and look elsewhere; at the end nothing may be left over.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import load_engine
from pagedesk.engine.thread import EngineThread
from pagedesk.protocol import (
    Cancel,
    DType,
    Failed,
    LoadModel,
    Message,
    ModelReady,
    PoolSnapshot,
    Role,
    SamplingParams,
    SetFocus,
    Submit,
    TextDelta,
    TextPart,
)
from tests.helpers.engines import of_kind
from tests.helpers.ledger import PATIENCE_S, Ledger
from tests.helpers.starter import starter_model
from tests.helpers.tiny_gguf import TinyModel, write_tiny_gguf

pytestmark = pytest.mark.soak

DURATION_S = 120.0
ACT_S = 1 / 20
NUM_CHATS = 6
WORDS = [
    "hello",
    "world",
    "the",
    "user",
    "one",
    "in",
    "\u3053\u3093\u306b\u3061\u306f",
    "\U0001f469\u200d\U0001f680",
    "x = 1;",
]
SYSTEM = Message.of(Role.SYSTEM, "You are one of several people in a storm. Be brief.")


@dataclass
class Person:
    """One chat: what was said in it, and the request under way."""

    name: str
    messages: list[Message] = field(default_factory=lambda: [SYSTEM])
    request_id: str | None = None


class Crowd:
    """Does what a seed says, twenty times a second."""

    def __init__(self, thread: EngineThread, ledger: Ledger, seed: int) -> None:
        self.ledger = ledger
        self.num_acts = 0
        self._thread = thread
        self._draw = random.Random(seed)
        self._people = [Person(f"chat {number}") for number in range(NUM_CHATS)]
        self._texts: dict[str, list[TextDelta]] = {}
        self._num_read = 0

    def rage(self) -> None:
        start_s = time.monotonic()
        pause = threading.Event()
        while (now_s := time.monotonic() - start_s) < DURATION_S:
            pause.wait(max(0.0, self.num_acts * ACT_S - now_s))
            self._read()
            self._act(self._draw.choice(self._people))
            self.num_acts += 1

    def _act(self, person: Person) -> None:
        if person.request_id is None:
            self._draw.choice([self._ask, self._ask, self._regenerate, self._edit])(person)
        elif self._draw.random() < 0.1:
            self._thread.send(Cancel(person.request_id))
        else:
            self._thread.send(SetFocus(person.name))

    def _read(self) -> None:
        """Take in replies; one that ended becomes a part of its chat, as it was generated."""
        for event in self.ledger.events[self._num_read :]:
            self._num_read += 1
            if isinstance(event, TextDelta) and event.answer_index == 0:
                self._texts.setdefault(event.request_id, []).append(event)
        still_open = set(self.ledger.open_requests())
        for person in self._people:
            if person.request_id is not None and person.request_id not in still_open:
                deltas = self._texts.pop(person.request_id, [])
                tokens = tuple(token for delta in deltas for token in delta.token_ids)
                text = "".join(delta.text for delta in deltas)
                person.messages.append(Message(Role.ASSISTANT, (TextPart(text),), tokens))
                person.request_id = None

    def _ask(self, person: Person) -> None:
        if len(person.messages) > 9:
            del person.messages[1:]
        words = self._draw.choices(WORDS, k=self._draw.choice([1, 5, 20, 60]))
        person.messages.append(Message.of(Role.USER, " ".join(words)))
        self._submit(person)

    def _regenerate(self, person: Person) -> None:
        if len(person.messages) < 3:
            return self._ask(person)
        person.messages.pop()
        return self._submit(person)

    def _edit(self, person: Person) -> None:
        questions = [place for place, message in enumerate(person.messages) if message.role is Role.USER]
        if questions:
            del person.messages[self._draw.choice(questions) :]
        return self._ask(person)

    def _submit(self, person: Person) -> None:
        person.request_id = f"act {self.num_acts}"
        submit = Submit(
            request_id=person.request_id,
            chat_id=person.name,
            messages=tuple(person.messages),
            sampling=SamplingParams(temperature=0.8, seed=self.num_acts, max_tokens=self._draw.choice([1, 8, 40])),
            num_answers=self._draw.choice([1, 1, 1, 3]),
        )
        self.ledger.expect(submit)
        self._thread.send(submit)


@contextmanager
def nothing_left_over() -> Iterator[None]:
    """Asserts that no thread and no open file is more than before."""
    threads, files = set(threading.enumerate()), _open_files()
    yield
    assert set(threading.enumerate()) <= threads
    assert _open_files() - files == set()


def _open_files() -> set[str]:
    """What the process has open in the file system (Linux)."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except FileNotFoundError:
            continue
    return {link for link in links if link.startswith("/") and not link.startswith("/dev/")}


def _storm(model: Path, num_blocks: int) -> Crowd:
    ledger = Ledger()
    thread = EngineThread(ledger.publish)
    crowd = Crowd(thread, ledger, seed=20261130)
    thread.start()
    thread.send(LoadModel(str(model), DType.FLOAT32, num_blocks=num_blocks))
    ledger.wait_until(lambda: bool(of_kind(ledger.events, ModelReady)))
    crowd.rage()
    ledger.wait_until(ledger.is_at_rest)
    assert thread.stop(PATIENCE_S)
    return crowd


def _check(crowd: Crowd) -> None:
    assert crowd.num_acts >= 0.9 * DURATION_S / ACT_S
    assert of_kind(crowd.ledger.events, Failed) == []
    last = of_kind(crowd.ledger.events, PoolSnapshot)[-1]
    assert (last.num_running, last.num_waiting, last.num_owned, last.num_shared) == (0, 0, 0, 0)
    assert last.num_free + last.num_cached == len(last.states)


def test_a_tiny_model_outlives_two_minutes_of_impatient_people(tmp_path: Path) -> None:
    model = write_tiny_gguf(tmp_path / "tiny.gguf", TinyModel(context_length=4096))
    load_engine(EngineConfig(model, num_blocks=150), lambda *_: None).close()  # imports what stays imported
    with nothing_left_over():
        crowd = _storm(model, num_blocks=150)
    _check(crowd)


def test_the_starter_model_outlives_two_minutes_of_impatient_people() -> None:
    load_engine(EngineConfig(starter_model(), num_blocks=150), lambda *_: None).close()
    with nothing_left_over():
        crowd = _storm(starter_model(), num_blocks=150)
    _check(crowd)
