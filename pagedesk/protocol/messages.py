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
        repetition_penalty: Divide a positive score of a token that was said by this, multiply a negative one (Keskar et
            al., arXiv 1909.05858); 1 switches it off.
        presence_penalty: Taken off the score of a token that was said; 0 switches it off.
        frequency_penalty: Taken off the score of a token for each time that it was said; 0 switches it off.
        penalty_last_n: How many of the last tokens, prompt and answer, the three penalties look at; None: all.
        dry_multiplier: Penalty of a token that would go on repeating a run of `dry_allowed_length` tokens that occurred
            before ("don't repeat yourself", p-e-w 2024); 0 switches it off.
        dry_base: The penalty is `dry_multiplier * dry_base ** (length of the run - dry_allowed_length)`.
        dry_allowed_length: Shorter runs may be repeated freely.
        dry_penalty_last_n: How many of the last tokens are searched for the run; None: all.
        dry_sequence_breakers: Texts that a run never reaches across; so are control tokens.
        top_n_sigma: Keep the tokens whose score is at most this many standard deviations of all scores below the best
            (Tang et al., arXiv 2411.07641); 0 switches it off.
        typical_p: Keep the tokens whose surprise is nearest to the expected one, the smallest set with this much
            probability (Meister et al., arXiv 2202.00666); 1 switches it off.
        xtc_probability: How often all but the least likely of the tokens above `xtc_threshold` are dropped ("exclude
            top choices", p-e-w 2024); 0 switches it off.
        xtc_threshold: The probability from which on a token is such a choice; above 0.5 there is never a second one.
        logit_bias: (token id, what is added to its score), each token once.
        stop: Texts that end the answer; it holds what comes before the one that is complete first.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    seed: int | None = None
    max_tokens: int | None = None
    ignore_eos: bool = False
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    penalty_last_n: int | None = 64
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int | None = None
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    top_n_sigma: float = 0.0
    typical_p: float = 1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    logit_bias: tuple[tuple[int, float], ...] = ()
    stop: tuple[str, ...] = ()


DEFAULT_SAMPLING = SamplingParams()
"""What is used where the user chose nothing."""
