"""The tokens of a model as its GGUF metadata lists them: spellings, kinds, and the ids that mean something.

Pure values, no tokenizer library. Keys and kinds: ggml's `docs/gguf.md`, section "Tokenizer".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.text.stop_tokens import stop_token_ids

_PREFIX = "tokenizer.ggml."
_ADVICE = "Choose a complete GGUF file of a chat model."
_LLAMA3_LIKE = frozenset({"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "lfm2", "tekken", "chameleon"})


class TokenKind(IntEnum):
    """What a token is, as `tokenizer.ggml.token_type` numbers it."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Vocabulary:
    """Tokens by id.

    Args:
        metadata: Key/values of a GGUF file.

    Attributes:
        model: Kind of tokenizer: "gpt2" (byte-level BPE), "llama" (SentencePiece BPE), ...
        pre: Name of the rule that splits text before BPE; empty if the file names none.
        spellings: As the file writes them.
        kinds: A `TokenKind` value a token.

    Raises:
        ModelFileError: The metadata holds no vocabulary.
    """

    def __init__(self, metadata: Mapping[str, object]) -> None:
        self._metadata = metadata
        tokens = metadata.get(f"{_PREFIX}tokens")
        if not isinstance(tokens, Sequence) or isinstance(tokens, str) or not tokens:
            raise ModelFileError("The model file holds no vocabulary.", _ADVICE)
        self.model = str(metadata.get(f"{_PREFIX}model", ""))
        self.pre = str(metadata.get(f"{_PREFIX}pre", ""))
        self.spellings: tuple[str, ...] = tuple(map(str, tokens))
        self.kinds = self._read_kinds()

    def __len__(self) -> int:
        return len(self.spellings)

    @property
    def bos_id(self) -> int | None:
        """The token that begins a text, if there is one."""
        return self._special_id("bos")

    @property
    def adds_bos(self) -> bool:
        """Whether a text must begin with `bos_id`."""
        given = self._metadata.get(f"{_PREFIX}add_bos_token")
        default = self.model == "llama" or (self.model == "gpt2" and self.pre in _LLAMA3_LIKE)
        return self.bos_id is not None and (default if given is None else bool(given))

    @property
    def adds_space_prefix(self) -> bool:
        """Whether a text gets a space in front (SentencePiece)."""
        return self.model == "llama" and bool(self._metadata.get(f"{_PREFIX}add_space_prefix", True))

    @cached_property
    def stop_ids(self) -> frozenset[int]:
        """The tokens that end a reply: what the file names, and what its vocabulary spells so."""
        sources = (self._metadata.get(f"{_PREFIX}{name}_token_id") for name in ("eos", "eot", "eom"))
        return stop_token_ids(self.spellings, *sources, is_text=self._is_text)

    @cached_property
    def control_ids(self) -> Mapping[str, int]:
        """Tokens by spelling that structure a prompt: text that merely spells one must never become one."""
        return {
            spelling: token_id
            for token_id, (spelling, kind) in enumerate(zip(self.spellings, self.kinds, strict=True))
            if len(spelling) > 1 and self._is_control(token_id, spelling, kind)
        }

    @cached_property
    def control_pattern(self) -> re.Pattern[str]:
        """Matches any control token, the longest first; one group."""
        longest_first = sorted(self.control_ids, key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, longest_first))})" if longest_first else r"((?!))")

    def spelling_of(self, name: str) -> str | None:
        """The spelling of the "bos", "eos", "unknown" or "padding" token."""
        token_id = self._special_id(name)
        return None if token_id is None else self.spellings[token_id]

    def _special_id(self, name: str) -> int | None:
        value = self._metadata.get(f"{_PREFIX}{name}_token_id")
        return value if isinstance(value, int) and 0 <= value < len(self.spellings) else None

    def _is_text(self, token_id: int) -> bool:
        """Whether the file says that a token is shown as it is spelled; one that names no kinds says nothing."""
        is_shown = self.kinds[token_id] in (TokenKind.NORMAL, TokenKind.USER_DEFINED)
        return is_shown and f"{_PREFIX}token_type" in self._metadata

    def _is_control(self, token_id: int, spelling: str, kind: int) -> bool:
        looks_like_one = kind == TokenKind.USER_DEFINED and spelling.startswith("<|") and spelling.endswith("|>")
        return kind == TokenKind.CONTROL or looks_like_one or token_id in self.stop_ids

    def _read_kinds(self) -> tuple[int, ...]:
        kinds = self._metadata.get(f"{_PREFIX}token_type")
        if kinds is None:
            return (int(TokenKind.NORMAL),) * len(self.spellings)
        if not isinstance(kinds, Sequence) or not all(isinstance(kind, int) for kind in kinds):
            raise ModelFileError("The model file's list of token types is not one of numbers.", _ADVICE)
        if len(kinds) != len(self.spellings):
            raise ModelFileError("The model file's list of token types does not match its vocabulary.", _ADVICE)
        return tuple(kinds)
