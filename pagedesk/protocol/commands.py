"""The commands that go down to an engine. Frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from pagedesk.protocol.messages import DEFAULT_SAMPLING, Message, SamplingParams


@dataclass(frozen=True, slots=True)
class Constraint:
    """A grammar that the reply must follow (reserved: no kind is supported yet, the engine refuses)."""

    kind: str
    text: str


class DType(StrEnum):
    """The number format of weights and cache; AUTO is the fastest one that the device computes in."""

    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


@dataclass(frozen=True, slots=True)
class LoadModel:
    """Load a model, in place of the one that is loaded.

    Attributes:
        path: A GGUF file or a model folder.
        dtype: Number format of weights and cache.
        budget_bytes: Memory for weights, workspace and pool together; None: the engine decides.
        num_blocks: Exact size of the pool, in blocks, for tests and benchmarks; None: from the budget.
        max_model_len: Longest sequence in tokens; None: what the model was trained for.
    """

    path: str
    dtype: DType = DType.AUTO
    budget_bytes: int | None = None
    num_blocks: int | None = None
    max_model_len: int | None = None


class Overflow(StrEnum):
    """What happens to a chat that has outgrown the context.

    STOP: a prompt that does not fit is refused. DROP_OLDEST: the oldest turns (a question with the replies to it) are
    left out of the prompt until it fits with room for a reply; the system prompt and the newest question stay.
    """

    STOP = "stop"
    DROP_OLDEST = "drop-oldest"


@dataclass(frozen=True, slots=True)
class Submit:
    """Ask for `num_answers` replies to a chat.

    Attributes:
        request_id: Chosen by the sender; every event of this request carries it.
        chat_id: Whose blocks these are on the gauge.
        messages: The whole history, the newest message last.
        raw: No chat template (base models): the text of the messages as it is, or their token ids where given.
        origin: Which window or client asks.
        priority: Larger is served first when not all can be.
        overflow: What to do if the chat has outgrown the context.
    """

    request_id: str
    chat_id: str
    messages: tuple[Message, ...]
    sampling: SamplingParams = DEFAULT_SAMPLING
    num_answers: int = 1
    raw: bool = False
    origin: str = "window"
    priority: int = 0
    constraint: Constraint | None = None
    overflow: Overflow = Overflow.STOP


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop a request; what was generated stays. Unknown or ended requests are ignored."""

    request_id: str


@dataclass(frozen=True, slots=True)
class SetFocus:
    """The chat that the user looks at: served first when not all can be."""

    chat_id: str | None


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the engine; requests under way end with `FinishReason.CANCELLED`."""


Command: TypeAlias = LoadModel | Submit | Cancel | SetFocus | Shutdown
