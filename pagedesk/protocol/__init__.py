"""The messages between a window and an engine: commands go down, events come up.

Any thread may build or read them. Knows neither Qt, torch nor the store; stdlib only.
"""

from pagedesk.protocol.commands import Cancel, Command, Constraint, DType, LoadModel, SetFocus, Shutdown, Submit
from pagedesk.protocol.events import (
    EnginePhase,
    EngineStatus,
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadFailed,
    MissReason,
    ModelInfo,
    ModelReady,
    Stalled,
    Started,
    TextDelta,
    Timings,
    Usage,
    Waiting,
)
from pagedesk.protocol.messages import DEFAULT_SAMPLING, Message, Part, ReasoningPart, Role, SamplingParams, TextPart
from pagedesk.protocol.pool import NO_OWNER, BlockState, ChatBlocks, MemoryUse, PoolSnapshot

__all__ = [
    "DEFAULT_SAMPLING",
    "NO_OWNER",
    "BlockState",
    "Cancel",
    "ChatBlocks",
    "Command",
    "Constraint",
    "DType",
    "EnginePhase",
    "EngineStatus",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "LoadFailed",
    "LoadModel",
    "MemoryUse",
    "Message",
    "MissReason",
    "ModelInfo",
    "ModelReady",
    "Part",
    "PoolSnapshot",
    "ReasoningPart",
    "Role",
    "SamplingParams",
    "SetFocus",
    "Shutdown",
    "Stalled",
    "Started",
    "Submit",
    "TextDelta",
    "TextPart",
    "Timings",
    "Usage",
    "Waiting",
]
