"""A decoder described by data: the sizes and constants that its GGUF metadata gives.

Stdlib only, any thread. Knows the keys of the format, not the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pagedesk.engine.backends.activation import Activation
from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.models.keys import DAMAGED, OTHER_MODEL, ModelKeys
from pagedesk.engine.models.registry import Architecture
from pagedesk.geometry import LayerGroup, ModelGeometry, group_layers


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
    """Everything that computing a decoder needs besides its weights.

    Attributes:
        attention_scale: What scores are multiplied by.
        windows: How many tokens each layer looks back on, see `LayerGroup`.
        rope: How layers without a window turn their heads.
        window_rope: How layers with one do.
        activation: What gates the feed-forward.
        embedding_scale: What embeddings are multiplied by.
        attention_softcap: Scores stay within plus and minus this much; None: they are not capped.
        final_softcap: The same for logits.
    """

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
    windows: tuple[int | None, ...]
    rope: RopeConfig
    window_rope: RopeConfig
    activation: Activation
    embedding_scale: float
    attention_softcap: float | None
    final_softcap: float | None

    @property
    def groups(self) -> tuple[LayerGroup, ...]:
        """Its layers by group of the cache."""
        return group_layers(self.windows)

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
            layer_windows=self.windows,
            caps_scores=self.attention_softcap is not None,
        )


def read_decoder_config(architecture: Architecture, metadata: Mapping[str, object]) -> DecoderConfig:
    """The configuration of a dense decoder.

    Raises:
        ModelFileError: A key is missing or impossible, or asks for what PageDesk does not compute yet.
    """
    keys = ModelKeys(architecture.name, metadata)
    _refuse_what_is_not_computed(keys, architecture)
    num_heads, hidden_size = keys.size("attention.head_count"), keys.size("embedding_length")
    num_layers = keys.size("block_count")
    head_size = keys.size("attention.key_length", hidden_size // num_heads)
    has_wide_heads = num_layers == architecture.num_layers_of_wide_heads
    width = hidden_size / num_heads if has_wide_heads else head_size
    rope = RopeConfig(keys.number("rope.freq_base", 10000.0), _linear_factor(keys))
    config = DecoderConfig(
        architecture=architecture.name,
        num_layers=num_layers,
        hidden_size=hidden_size,
        intermediate_size=keys.size("feed_forward_length"),
        num_heads=num_heads,
        num_kv_heads=keys.size("attention.head_count_kv", num_heads),
        head_size=head_size,
        vocab_size=keys.size("vocab_size", keys.num_tokens() or None),
        context_length=keys.size("context_length"),
        norm_eps=keys.number("attention.layer_norm_rms_epsilon"),
        attention_scale=keys.number("attention.scale", 0.0) or width**-0.5,
        windows=_windows(keys, architecture, num_layers),
        rope=rope,
        window_rope=_window_rope(keys, architecture, rope),
        activation=architecture.activation,
        embedding_scale=hidden_size**0.5 if architecture.scales_embedding else 1.0,
        attention_softcap=keys.number("attn_logit_softcapping", 0.0) or None,
        final_softcap=keys.number("final_logit_softcapping", 0.0) or None,
    )
    _check_heads(keys, config)
    _check_vocabulary(keys, config)
    return config


def _windows(keys: ModelKeys, architecture: Architecture, num_layers: int) -> tuple[int | None, ...]:
    if architecture.window_period is None or not keys.number("attention.sliding_window", 0):
        return (None,) * num_layers
    window = keys.size("attention.sliding_window")
    has_window = keys.flags("attention.sliding_window_pattern", num_layers)
    if has_window is None:
        period = keys.size("attention.sliding_window_pattern", architecture.window_period)
        has_window = tuple((index + 1) % period != 0 for index in range(num_layers))
    return tuple(window if flag else None for flag in has_window)


def _window_rope(keys: ModelKeys, architecture: Architecture, rope: RopeConfig) -> RopeConfig:
    if architecture.window_theta is None:
        return rope
    return RopeConfig(keys.number("rope.freq_base_swa", architecture.window_theta), linear_factor=1.0)


def _linear_factor(keys: ModelKeys) -> float:
    kind = keys.get("rope.scaling.type") or "none"
    if kind not in ("none", "linear"):
        cause = f"This model stretches its context by {kind!r:.40} rope scaling, which PageDesk does not compute yet."
        raise ModelFileError(cause, OTHER_MODEL)
    return (keys.number("rope.scaling.factor", 1.0) or 1.0) if kind == "linear" else 1.0


def _refuse_what_is_not_computed(keys: ModelKeys, architecture: Architecture) -> None:
    if keys.number("expert_count", 0):
        raise ModelFileError("This is a mixture-of-experts model, which PageDesk does not compute yet.", OTHER_MODEL)
    if architecture.window_period is None and keys.number("attention.sliding_window", 0):
        cause = "This model uses attention.sliding_window, which PageDesk does not compute for its architecture yet."
        raise ModelFileError(cause, OTHER_MODEL)


def _check_vocabulary(keys: ModelKeys, config: DecoderConfig) -> None:
    """A token without a row in the embedding would end every step that it is part of."""
    if keys.num_tokens() > config.vocab_size:
        cause = f"The model's description is damaged: its vocabulary names {keys.num_tokens()} tokens and has room for "
        raise ModelFileError(f"{cause}{config.vocab_size}.", DAMAGED)


def _check_heads(keys: ModelKeys, config: DecoderConfig) -> None:
    if config.num_heads % config.num_kv_heads:
        raise keys.error("attention.head_count_kv", config.num_kv_heads)
    if config.head_size % 2 or keys.size("attention.value_length", config.head_size) != config.head_size:
        raise keys.error("attention.key_length", config.head_size)
    if keys.size("rope.dimension_count", config.head_size) != config.head_size:
        cause = "This model turns only a part of each head, which PageDesk does not compute yet."
        raise ModelFileError(cause, OTHER_MODEL)
