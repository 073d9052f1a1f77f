"""What the metadata of a file says about the decoder, and what is refused."""

from __future__ import annotations

import pytest

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.models.config import DecoderConfig, RopeConfig, read_decoder_config
from pagedesk.engine.models.registry import ARCHITECTURES
from tests.helpers.tiny_gguf import TinyModel, tiny_metadata


def read(model: TinyModel | None = None, **overrides: object) -> DecoderConfig:
    metadata = tiny_metadata(model or TinyModel()) | {f"llama.{key}": value for key, value in overrides.items()}
    return read_decoder_config(
        ARCHITECTURES["llama"], {key: value for key, value in metadata.items() if value is not None}
    )


def gemma_3(**overrides: object) -> DecoderConfig:
    llama = tiny_metadata(TinyModel(num_layers=12)) | {"llama.attention.sliding_window": 8}
    llama |= {f"llama.{key}": value for key, value in overrides.items()}
    present = {key.replace("llama.", "gemma3."): value for key, value in llama.items() if value is not None}
    return read_decoder_config(ARCHITECTURES["gemma3"], present)


def refusal(**overrides: object) -> str:
    with pytest.raises(ModelFileError) as caught:
        read(**overrides)
    return caught.value.cause


def test_the_head_size_is_hidden_over_heads_unless_given() -> None:
    assert read().head_size == 16


def test_a_given_head_size_is_honoured() -> None:
    assert read(TinyModel(head_size=24)).head_size == 24


def test_the_scale_is_one_over_the_root_of_the_head_size() -> None:
    assert read().attention_scale == 0.25


def test_as_many_kv_heads_as_heads_unless_given() -> None:
    assert read(**{"attention.head_count_kv": None}).num_kv_heads == 4


def test_the_vocabulary_is_counted_where_its_size_is_not_given() -> None:
    assert read(vocab_size=None).vocab_size == len(tiny_metadata(TinyModel())["tokenizer.ggml.tokens"])  # type: ignore[arg-type]


def test_a_list_with_one_value_for_each_layer_counts_as_that_value() -> None:
    assert read(**{"attention.head_count_kv": [2, 2]}).num_kv_heads == 2


def test_layers_of_different_sizes_are_refused() -> None:
    assert "feed_forward_length is [128, 256]" in refusal(feed_forward_length=[128, 256])


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("block_count", None, "llama.block_count is missing"),
        ("block_count", 0, "llama.block_count is 0"),
        ("block_count", "two", "llama.block_count is 'two'"),
        ("embedding_length", -4, "llama.embedding_length is -4"),
        ("attention.layer_norm_rms_epsilon", float("nan"), "epsilon is nan"),
        ("attention.head_count_kv", 3, "head_count_kv is 3"),
        ("attention.head_count", 128, "key_length is 0"),
        ("attention.value_length", 8, "key_length is 16"),
        ("rope.dimension_count", 8, "turns only a part of each head"),
        ("expert_count", 8, "mixture-of-experts"),
        ("attention.sliding_window", 4096, "attention.sliding_window"),
        ("rope.scaling.type", "yarn", "'yarn' rope scaling"),
    ],
)
def test_what_is_missing_or_not_computed_is_named(key: str, value: object, said: str) -> None:
    assert said in refusal(**{key: value})


def test_a_vocabulary_with_more_tokens_than_the_model_embeds_is_refused() -> None:
    assert "names 288 tokens and has room for 100" in refusal(vocab_size=100)


def test_linear_scaling_is_read() -> None:
    config = read(**{"rope.scaling.type": "linear", "rope.scaling.factor": 4.0})
    assert config.rope.linear_factor == 4.0


def test_a_factor_without_a_type_scales_nothing() -> None:
    assert read(**{"rope.scaling.factor": 4.0}).rope.linear_factor == 1.0


def test_the_geometry_carries_the_limit_in_force() -> None:
    assert read().geometry(100).max_model_len == 100


def test_every_sixth_layer_of_a_gemma_3_looks_at_everything() -> None:
    assert gemma_3().windows == (*[8] * 5, None) * 2


def test_a_period_in_the_file_comes_before_that_of_the_architecture() -> None:
    assert gemma_3(**{"attention.sliding_window_pattern": 3}).windows == (8, 8, None) * 4


def test_a_list_of_layers_with_a_window_is_taken_as_it_is() -> None:
    flags = [False] * 6 + [True] * 6
    assert gemma_3(**{"attention.sliding_window_pattern": flags}).windows == (*[None] * 6, *[8] * 6)


def test_a_list_for_another_number_of_layers_is_refused() -> None:
    with pytest.raises(ModelFileError, match="sliding_window_pattern"):
        gemma_3(**{"attention.sliding_window_pattern": [True, False]})


def test_without_a_window_all_layers_are_of_one_kind() -> None:
    assert len(gemma_3(**{"attention.sliding_window": None}).groups) == 1


def test_layers_with_a_window_turn_by_their_own_base_and_without_scaling() -> None:
    config = gemma_3(**{"rope.freq_base": 1e6, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0})
    assert (config.rope, config.window_rope) == (RopeConfig(1e6, 8.0), RopeConfig(1e4, 1.0))


def test_the_largest_gemma_3_scales_by_hidden_size_over_heads() -> None:
    head = dict.fromkeys(("attention.key_length", "attention.value_length", "rope.dimension_count"), 24)
    assert (gemma_3(block_count=62, **head).attention_scale, gemma_3(**head).attention_scale) == (0.25, 24**-0.5)


def test_embeddings_are_scaled_by_the_root_of_the_hidden_size() -> None:
    assert (gemma_3().embedding_scale, read().embedding_scale) == (8.0, 1.0)
