"""What a step did to the requests: plain values from the scheduler to the engine."""

from __future__ import annotations

from dataclasses import dataclass

from pagedesk.engine.scheduling.request import Request
from pagedesk.protocol import FinishReason


@dataclass(frozen=True, slots=True)
class Wait:
    """A request that waits for blocks, said once for each request."""

    request: Request
    needed_blocks: int
    available_blocks: int


@dataclass(frozen=True, slots=True)
class Advance:
    """One answer got a token; `finish` is None while it goes on."""

    request: Request
    answer_index: int
    token_id: int
    finish: FinishReason | None


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Everything that became of one step.

    Attributes:
        started: Requests that got their turn for the first time.
        waiting: Requests that wait for blocks since this step.
        advances: Answers that got a token.
        faulted: Requests that ended because their logits held NaN or Inf, or their token is missing.
    """

    started: tuple[Request, ...] = ()
    waiting: tuple[Wait, ...] = ()
    advances: tuple[Advance, ...] = ()
    faulted: tuple[Request, ...] = ()
