"""The events that come up from an engine. Frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from pagedesk.protocol.commands import DType
from pagedesk.protocol.pool import MemoryUse, PoolSnapshot


class EnginePhase(StrEnum):
    """What the engine is, as a whole."""

    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    EMPTY = "empty"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What the engine is doing.

    Attributes:
        phase: The state.
        stage: While loading: what is being done ("weights", "tokenizer", ...); else empty.
        done: Units done of this stage (bytes for weights).
        total: Units in all; 0 if unknown.
    """

    phase: EnginePhase
    stage: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Stalled:
    """The engine does not answer: a step takes far longer than it should. Said again while it lasts.

    Attributes:
        seconds: For how long it has not answered; None: it answers again.
    """

    seconds: int | None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model that is loaded, as shown to the user."""

    name: str
    path: str
    architecture: str
    quantisation: str
    file_bytes: int
    num_parameters: int
    max_model_len: int
    dtype: DType
    device_name: str
    backend_name: str


@dataclass(frozen=True, slots=True)
class ModelReady:
    """A model is loaded and takes requests."""

    model: ModelInfo
    memory: MemoryUse


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """A model could not be loaded; the engine lives on.

    Attributes:
        keeps_model: Whether the model before it is still loaded, and its replies go on; else there is none now.
    """

    path: str
    cause: str
    advice: str
    keeps_model: bool = False


@dataclass(frozen=True, slots=True)
class TurnsDropped:
    """The chat has outgrown the context: its oldest turns were left out of the prompt. Comes before `Started`.

    Attributes:
        num_messages: Messages that were left out.
        num_tokens: Tokens that the prompt is shorter by.
    """

    request_id: str
    num_messages: int
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Started:
    """A request got its turn: its prompt is being computed.

    Attributes:
        prompt_tokens: Length of the prompt.
        cached_tokens: How many of them were in the cache.
    """

    request_id: str
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request waits for blocks."""

    request_id: str
    needed_blocks: int
    free_blocks: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of one answer: whole characters only.

    `token_ids` are all ids generated since the last delta, even if their characters are still held back, the stop
    token that ends an answer included.
    """

    request_id: str
    answer_index: int
    text: str
    token_ids: tuple[int, ...]


class FinishReason(StrEnum):
    """Why an answer ended.

    LENGTH: it has as many tokens as were asked for. CONTEXT: the chat is as long as the model, or the memory for its
    blocks, allows. REPLACED: another model was loaded.
    """

    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"
    CANCELLED = "cancelled"
    REPLACED = "replaced"


class MissReason(StrEnum):
    """Why a prompt token was not in the cache.

    NEW: nothing known stood at its place. EVICTED: it was there and had to go. EDITED: this chat had another token at
    its place before. TEMPLATE: the same, though nobody edited the chat: its template writes the history anew.
    """

    NEW = "new"
    EVICTED = "evicted"
    EDITED = "edited"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer.

    Attributes:
        prompt_tokens: Length of the prompt.
        cached_tokens: Prompt tokens that were in the cache when the request got its turn.
        completion_tokens: Length of the answer.
        first_missed_index: Index of the first prompt token that was not in the cache.
        miss_reason: Why it was not; None if it is the last one, which is always computed, or if the request never
            got its turn.
    """

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    first_missed_index: int
    miss_reason: MissReason | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one answer: waiting for its turn, computing its prompt, generating.

    `ttft_ms` runs from the arrival of the request to its first token (wait + prefill).
    `decode_tokens_per_s` is (tokens - 1) / (time of the last - time of the first), 0 for fewer than two tokens.
    """

    wait_ms: float
    prefill_ms: float
    ttft_ms: float
    decode_ms: float
    decode_tokens_per_s: float


@dataclass(frozen=True, slots=True)
class Finished:
    """One answer ended."""

    request_id: str
    answer_index: int
    reason: FinishReason
    usage: Usage
    timings: Timings


@dataclass(frozen=True, slots=True)
class Failed:
    """A request ended with an error; the other requests go on."""

    request_id: str
    cause: str
    advice: str


Event: TypeAlias = (
    EngineStatus
    | Stalled
    | ModelReady
    | LoadFailed
    | TurnsDropped
    | Started
    | Waiting
    | TextDelta
    | Finished
    | Failed
    | PoolSnapshot
)
