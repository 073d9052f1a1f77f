"""What is said: roles, parts, messages, and how the next token of a reply is chosen. Frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


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


DEFAULT_SAMPLING = SamplingParams()
"""What is used where the user chose nothing."""
