"""A decoder described by data: the sizes and constants that its GGUF metadata gives.

Stdlib only, any thread. Knows the keys of the format, not the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pagedesk.engine.errors import ModelFileError
from pagedesk.geometry import ModelGeometry

_DAMAGED = "Download the file again, or choose another one."
_OTHER_MODEL = "Choose another model."
_MAX_SIZE = 1 << 24


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """How positions turn queries and keys.

    Attributes:
        theta: Base of the wavelengths.
        linear_factor: Positions are divided by this much (linear scaling); 1 for none.
    """

    theta: float
    linear_factor: float


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Everything that computing a decoder needs besides its weights."""

    architecture: str
    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocab_size: int
    context_length: int
    norm_eps: float
    attention_scale: float
    rope: RopeConfig

    def geometry(self, max_model_len: int) -> ModelGeometry:
        """The sizes that decide what it costs, at this longest sequence."""
        return ModelGeometry(
            num_layers=self.num_layers,
            hidden_size=self.hidden_size,
            intermediate_size=self.intermediate_size,
            num_heads=self.num_heads,
            num_kv_heads=self.num_kv_heads,
            head_size=self.head_size,
            vocab_size=self.vocab_size,
            max_model_len=max_model_len,
        )


def read_decoder_config(architecture: str, metadata: Mapping[str, object]) -> DecoderConfig:
    """The configuration of a dense decoder.

    Raises:
        ModelFileError: A key is missing or impossible, or asks for what PageDesk does not compute yet.
    """
    keys = _Keys(architecture, metadata)
    _refuse_what_is_not_computed(keys)
    num_heads, hidden_size = keys.size("attention.head_count"), keys.size("embedding_length")
    head_size = keys.size("attention.key_length", hidden_size // num_heads)
    config = DecoderConfig(
        architecture=architecture,
        num_layers=keys.size("block_count"),
        hidden_size=hidden_size,
        intermediate_size=keys.size("feed_forward_length"),
        num_heads=num_heads,
        num_kv_heads=keys.size("attention.head_count_kv", num_heads),
        head_size=head_size,
        vocab_size=keys.size("vocab_size", keys.num_tokens() or None),
        context_length=keys.size("context_length"),
        norm_eps=keys.number("attention.layer_norm_rms_epsilon"),
        attention_scale=keys.number("attention.scale", 0.0) or head_size**-0.5,
        rope=RopeConfig(keys.number("rope.freq_base", 10000.0), _linear_factor(keys)),
    )
    _check_heads(keys, config)
    _check_vocabulary(keys, config)
    return config


class _Keys:
    """Reads `{architecture}.*` keys and checks what they hold."""

    def __init__(self, architecture: str, metadata: Mapping[str, object]) -> None:
        self._architecture = architecture
        self._metadata = metadata

    def get(self, key: str) -> object:
        """The value, or None. A list of equal values, one a layer, counts as that value."""
        value = self._metadata.get(f"{self._architecture}.{key}")
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            return value[0]
        return value

    def size(self, key: str, default: int | None = None) -> int:
        """A positive integer."""
        value = self.get(key)
        if value is None:
            value = default
        if not isinstance(value, int) or not 0 < value <= _MAX_SIZE:
            raise self.error(key, value)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number that is not negative."""
        value = self.get(key)
        if value is None:
            value = default
        if not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise self.error(key, value)
        return float(value)

    def num_tokens(self) -> int:
        """Length of the vocabulary that the file carries."""
        tokens = self._metadata.get("tokenizer.ggml.tokens")
        return len(tokens) if isinstance(tokens, list) else 0

    def error(self, key: str, value: object) -> ModelFileError:
        """The refusal of a key."""
        said = "is missing" if value is None else f"is {value!r:.60}"
        return ModelFileError(f"The model's description is damaged: {self._architecture}.{key} {said}.", _DAMAGED)


def _linear_factor(keys: _Keys) -> float:
    kind = keys.get("rope.scaling.type") or "none"
    if kind not in ("none", "linear"):
        cause = f"This model stretches its context by {kind!r:.40} rope scaling, which PageDesk does not compute yet."
        raise ModelFileError(cause, _OTHER_MODEL)
    return (keys.number("rope.scaling.factor", 1.0) or 1.0) if kind == "linear" else 1.0


def _refuse_what_is_not_computed(keys: _Keys) -> None:
    if keys.number("expert_count", 0):
        raise ModelFileError("This is a mixture-of-experts model, which PageDesk does not compute yet.", _OTHER_MODEL)
    for key in ("attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"):
        if keys.number(key, 0):
            raise ModelFileError(f"This model uses {key}, which PageDesk does not compute yet.", _OTHER_MODEL)


def _check_vocabulary(keys: _Keys, config: DecoderConfig) -> None:
    """A token without a row in the embedding would end every step that it is part of."""
    if keys.num_tokens() > config.vocab_size:
        cause = f"The model's description is damaged: its vocabulary names {keys.num_tokens()} tokens and has room for "
        raise ModelFileError(f"{cause}{config.vocab_size}.", _DAMAGED)


def _check_heads(keys: _Keys, config: DecoderConfig) -> None:
    if config.num_heads % config.num_kv_heads:
        raise keys.error("attention.head_count_kv", config.num_kv_heads)
    if config.head_size % 2 or keys.size("attention.value_length", config.head_size) != config.head_size:
        raise keys.error("attention.key_length", config.head_size)
    if keys.size("rope.dimension_count", config.head_size) != config.head_size:
        cause = "This model turns only a part of each head, which PageDesk does not compute yet."
        raise ModelFileError(cause, _OTHER_MODEL)
