"""What the scenarios measure on: a model that is loaded once, and a fresh engine on it for each run.

One thread. Every engine of a rig has the same weights, kernels, scheduler and sampling; what differs is named by the
caller.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pagedesk.engine.config import EngineConfig
from pagedesk.protocol import Event, Failed, Finished, Message, Role, SamplingParams, Submit, TextDelta, TextPart
from pagedesk.system.errors import UserError

if TYPE_CHECKING:
    from pagedesk.engine.engine import Engine
    from pagedesk.engine.model_runner import LoadedModel
    from pagedesk.engine.text.prompt import PromptBuilder

_ORDINARY_IDS = range(1000, 2000)
"""Ordinary words in every vocabulary of more than 2,000 tokens."""

OnStep = Callable[["Engine"], None]


class Rig:
    """A loaded model and fresh engines on it.

    Args:
        model: Loaded; `open_rig` closes it.
        prompts: Builds prompts for it.
        config: How it was loaded.
    """

    def __init__(self, model: LoadedModel, prompts: PromptBuilder, config: EngineConfig) -> None:
        self._model = model
        self._prompts = prompts
        self._config = config

    @property
    def model_name(self) -> str:
        """As the user knows it."""
        return self._model.info.name

    @property
    def device_name(self) -> str:
        """Where it computes."""
        return self._model.info.device_name

    @property
    def max_model_len(self) -> int:
        """The longest sequence."""
        return self._model.info.max_model_len

    @property
    def config(self) -> EngineConfig:
        """How the model was loaded."""
        return self._config

    def engine(self, config: EngineConfig | None = None) -> Engine:
        """An engine with an empty cache and counters at 0; `config`: not the one that the model was loaded with."""
        from pagedesk.engine.engine import Engine  # noqa: PLC0415 - see `open_rig`

        return Engine(self._model, self._prompts, config or self._config)

    def prompt(self, name: str, num_tokens: int) -> tuple[int, ...]:
        """So many ordinary tokens, the same for the same name."""
        draw = random.Random(name)  # noqa: S311 - any spread will do, it must only be the same each time
        ids = self._ordinary_ids()
        return tuple(draw.choice(ids) for _ in range(num_tokens))

    def warm_up(self) -> None:
        """Let code be loaded and routines be compiled before anything is timed."""
        engine = self.engine()
        engine.add(request("warm-up", self.prompt("warm-up", 40), max_tokens=4))
        run_to_end(engine)

    def _ordinary_ids(self) -> range:
        num_ids = len(self._prompts.table)
        return _ORDINARY_IDS if num_ids >= _ORDINARY_IDS.stop else range(num_ids // 4, num_ids)


@contextmanager
def open_rig(config: EngineConfig) -> Iterator[Rig]:
    """Load a model; it is closed at the end.

    Raises:
        EngineError: It cannot be loaded.
    """
    # Imports torch, which --help must not wait for.
    from pagedesk.engine.model_runner import load_model  # noqa: PLC0415
    from pagedesk.engine.text.prompt import prompt_builder  # noqa: PLC0415

    model = load_model(config, lambda _stage, _done, _total: None)
    try:
        yield Rig(model, prompt_builder(model.metadata), config)
    finally:
        model.runner.close()


@dataclass(slots=True)
class Outcome:
    """What became of the requests of one run.

    Attributes:
        tokens: What each answer generated, by request and index.
        finished: How each answer ended.
        wall_s: Seconds that the run took.
    """

    tokens: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    finished: dict[tuple[str, int], Finished] = field(default_factory=dict)
    wall_s: float = 0.0

    @property
    def num_tokens(self) -> int:
        """Tokens of all answers."""
        return sum(len(token_ids) for token_ids in self.tokens.values())

    def note(self, events: Iterable[Event]) -> None:
        """Take in what an engine told.

        Raises:
            UserError: A request failed.
        """
        for event in events:
            match event:
                case TextDelta(request_id=request_id, answer_index=index, token_ids=token_ids):
                    self.tokens.setdefault((request_id, index), []).extend(token_ids)
                case Finished(request_id=request_id, answer_index=index):
                    self.finished[request_id, index] = event
                case Failed(cause=cause, advice=advice):
                    raise UserError(cause, advice)
                case _:
                    pass


def run_to_end(engine: Engine, on_step: OnStep = lambda _engine: None) -> Outcome:
    """Step until nothing is left to do.

    Args:
        engine: Has requests.
        on_step: Called after each step.

    Raises:
        UserError: A request failed.
    """
    outcome = Outcome()
    began_s = time.perf_counter()
    while engine.has_work:
        outcome.note(engine.step())
        on_step(engine)
    outcome.wall_s = time.perf_counter() - began_s
    return outcome


def request(
    name: str,
    prompt: Sequence[int],
    *,
    max_tokens: int,
    chat_id: str | None = None,
    num_answers: int = 1,
    temperature: float = 0.0,
) -> Submit:
    """A request for an exact number of tokens, whatever the model says."""
    return Submit(
        request_id=name,
        chat_id=name if chat_id is None else chat_id,
        messages=(Message(Role.USER, (TextPart(""),), tuple(prompt)),),
        sampling=SamplingParams(temperature=temperature, seed=1, max_tokens=max_tokens, ignore_eos=True),
        num_answers=num_answers,
        raw=True,
        origin="bench",
    )
