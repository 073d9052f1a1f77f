"""An `Engine` on a tiny vocabulary and the fake runner, and builders for what is sent to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine
from pagedesk.engine.text.prompt import prompt_builder
from pagedesk.protocol import (
    DType,
    Event,
    Failed,
    Finished,
    MemoryUse,
    Message,
    ModelInfo,
    Role,
    SamplingParams,
    Submit,
    TextDelta,
)
from tests.helpers.fake_runner import FakeRunner, pick_token
from tests.helpers.tiny_vocabulary import byte_level_metadata

E = TypeVar("E")
BLOCK = 4
INFO = ModelInfo("Tiny", "tiny.gguf", "llama", "F32", 1, 1, 400, DType.FLOAT32, "fake", "fake")
MEMORY = MemoryUse("fake", None, None, 100, 10, 10, 80, 0)


class FixedMeter:
    """A device whose memory never changes."""

    def read(self) -> MemoryUse:
        return MEMORY


@dataclass
class FakeModel:
    """Looks like a loaded model to the engine."""

    runner: FakeRunner
    num_blocks: int
    info: ModelInfo = INFO
    meter: FixedMeter = field(default_factory=FixedMeter)
    block_bytes: int = 1000
    windows: tuple[int | None, ...] = (None,)


def letter(history: Sequence[int], part: SequenceSlice) -> int:
    """The id of a letter from a to z, from the history and the seed."""
    assert part.sample is not None
    return 4 + ord("a") + pick_token([part.sample.seed, *history], 26)


def fake_engine(
    num_blocks: int = 64,
    *,
    next_token: Callable[[Sequence[int], SequenceSlice], int] = letter,
    template: str | None = None,
    config: EngineConfig | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Engine, FakeRunner]:
    runner = FakeRunner(num_blocks, BLOCK, next_token)
    metadata = byte_level_metadata() if template is None else byte_level_metadata(template)
    config = config or EngineConfig(Path("tiny.gguf"), block_size=BLOCK)
    return Engine(FakeModel(runner, num_blocks), prompt_builder(metadata), config, clock), runner  # type: ignore[arg-type]


def submit(
    request_id: str = "r",
    text: str = "hi",
    *,
    chat: str = "c",
    answers: int = 1,
    max_tokens: int | None = 6,
    history: Iterable[Message] = (),
    **sampling: object,
) -> Submit:
    params = SamplingParams(max_tokens=max_tokens, **({"seed": 1} | sampling))  # type: ignore[arg-type]
    return Submit(request_id, chat, (*history, Message.of(Role.USER, text)), params, answers)


def run(engine: Engine) -> list[Event]:
    """Step until nothing is left to do; all events."""
    events: list[Event] = []
    while engine.has_work:
        events += engine.step()
    return events


def of_kind(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def text_of(events: Iterable[Event], request_id: str = "r", answer_index: int = 0) -> str:
    deltas = of_kind(events, TextDelta)
    return "".join(d.text for d in deltas if (d.request_id, d.answer_index) == (request_id, answer_index))


def tokens_of(events: Iterable[Event], request_id: str = "r", answer_index: int = 0) -> tuple[int, ...]:
    deltas = [d for d in of_kind(events, TextDelta) if (d.request_id, d.answer_index) == (request_id, answer_index)]
    return tuple(token_id for delta in deltas for token_id in delta.token_ids)


def endings(events: Iterable[Event]) -> list[tuple[str, str]]:
    """(request id, how it ended) in order."""
    ends = [event for event in events if isinstance(event, Finished | Failed)]
    return [(e.request_id, e.reason.value if isinstance(e, Finished) else "failed") for e in ends]
