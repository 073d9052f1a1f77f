"""The commands that go down to an engine and the events that come up: frozen plain values.

Any thread may build or read them. Knows neither Qt, torch nor the store; stdlib only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeAlias

NO_OWNER = 0xFFFF
"""In the owner arrays of a `PoolSnapshot`: no chat."""


class Role(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words of a message as the reader sees them."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model thought before it answered."""

    text: str


Part: TypeAlias = TextPart | ReasoningPart


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat.

    Attributes:
        role: Who says it.
        parts: What it consists of, in order.
        token_ids: For a reply: the ids that were generated, used again as they are. None: encode the text.
    """

    role: Role
    parts: tuple[Part, ...]
    token_ids: tuple[int, ...] | None = None

    @classmethod
    def of(cls, role: Role, text: str) -> Message:
        """A message of one text part."""
        return cls(role, (TextPart(text),))

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen; the engine refuses values out of range with a sentence.

    Attributes:
        temperature: 0 is greedy.
        top_k: Keep the k likeliest tokens; 0 switches it off.
        top_p: Keep the smallest set with this much probability; 1 switches it off.
        min_p: Drop tokens less likely than this share of the likeliest; 0 switches it off.
        seed: The same seed gives the same text; None draws one.
        max_tokens: At most so many new tokens; None: until the context is full.
        ignore_eos: Go on after a stop token, for benchmarks that need an exact length.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    seed: int | None = None
    max_tokens: int | None = None
    ignore_eos: bool = False


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


# ---- commands


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
    """

    request_id: str
    chat_id: str
    messages: tuple[Message, ...]
    sampling: SamplingParams = SamplingParams()
    num_answers: int = 1
    raw: bool = False
    origin: str = "window"
    priority: int = 0
    constraint: Constraint | None = None


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

# ---- events


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
class MemoryUse:
    """Where the memory of the device is, in bytes; None where the machine does not tell.

    `total_bytes` is the card's memory, or on a CPU the machine's; `others_bytes` is what other programs use of it;
    `on_card` tells which of the two it is.
    """

    device_name: str
    total_bytes: int | None
    others_bytes: int | None
    budget_bytes: int
    weights_bytes: int
    workspace_bytes: int
    pool_bytes: int
    headroom_bytes: int
    on_card: bool = False


@dataclass(frozen=True, slots=True)
class ModelReady:
    """A model is loaded and takes requests."""

    model: ModelInfo
    memory: MemoryUse


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """A model could not be loaded; no model is loaded now, the engine lives on."""

    path: str
    cause: str
    advice: str


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
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer.

    `first_missed_index` is the index of the first prompt token that was not in the cache.
    """

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    first_missed_index: int


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


class BlockState(IntEnum):
    """What a block is to the pool (one byte a block in a snapshot)."""

    FREE = 0
    OWNED = 1
    SHARED = 2
    CACHED = 3


@dataclass(frozen=True, slots=True)
class ChatBlocks:
    """The blocks of one chat: held by it alone, held together with others, cached after its last use."""

    chat_id: str
    num_owned: int
    num_shared: int
    num_cached: int


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """The pool and the engine's counters at one moment between two steps.

    Attributes:
        block_size: Tokens in a block.
        block_bytes: Bytes of a block.
        states: A `BlockState` byte for each block, by block id.
        owners: Little-endian unsigned 16-bit per block: index into `chats` of the chat that holds the block, or for a
            cached one held it last; `NO_OWNER` for none. Read with `memoryview(owners).cast("H")`.
        second_owners: The same for a second chat that shares the block.
        num_owners: A byte per block: how many different chats hold it (at most 255).
        ref_counts: A byte per block: how many block tables name it (at most 255).
        chats: The chats that the owner arrays point into.
        peak_held_blocks: The most blocks that were held (owned or shared) at once since the model was loaded.
        peak_shared_blocks: The most blocks that were shared at once since the model was loaded.
        num_copied_blocks: Blocks copied on write since the model was loaded.
        saved_bytes: Sum over shared blocks of (ref_count - 1) x block_bytes.
        num_running: Sequences that have the turn.
        num_waiting: Sequences that wait.
        step_index: Steps since the model was loaded.
        step_ms: Duration of the newest step.
        prompt_tokens: Prompt tokens computed since the model was loaded.
        cached_prompt_tokens: Prompt tokens found in the cache since the model was loaded.
        generated_tokens: Tokens generated since the model was loaded.
        memory: Where the device's memory is.
    """

    block_size: int
    block_bytes: int
    states: bytes
    owners: bytes
    second_owners: bytes
    num_owners: bytes
    ref_counts: bytes
    chats: tuple[ChatBlocks, ...]
    num_owned: int
    num_shared: int
    num_cached: int
    num_free: int
    peak_held_blocks: int
    peak_shared_blocks: int
    num_copied_blocks: int
    saved_bytes: int
    num_running: int
    num_waiting: int
    step_index: int
    step_ms: float
    prompt_tokens: int
    cached_prompt_tokens: int
    generated_tokens: int
    memory: MemoryUse

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return len(self.states)


Event: TypeAlias = (
    EngineStatus | ModelReady | LoadFailed | Started | Waiting | TextDelta | Finished | Failed | PoolSnapshot
)
