"""Tiny random Gemmas made by transformers, the independent witness, and written to GGUF as its converter does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from gguf import MODEL_ARCH, GGUFWriter, get_tensor_name_map
from transformers import Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, PreTrainedModel

from tests.helpers.tiny_gguf import TinyModel, add_key, tiny_metadata, tiny_vocabulary

WINDOW = 10
SIZES = {
    "vocab_size": len(tiny_vocabulary()),
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "max_position_embeddings": 512,
    "sliding_window": WINDOW,
    "query_pre_attn_scalar": 24,
    "attn_implementation": "eager",
}

_SPREADS = {"embed": 0.03, "head": 0.03, "q_proj": 0.4, "k_proj": 0.4}


def tiny_gemma_3(num_layers: int, period: int) -> PreTrainedModel:
    """Every layer but each `period`-th has a window, and two bases of the angles."""
    rope = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    config = Gemma3TextConfig(
        **SIZES, num_hidden_layers=num_layers, sliding_window_pattern=period, rope_parameters=rope
    )
    return _randomised(Gemma3ForCausalLM(config))


def tiny_gemma_2(num_layers: int) -> PreTrainedModel:
    """Layers with and without a window in turn, caps on scores and logits low enough to be felt."""
    config = Gemma2Config(
        **SIZES, num_hidden_layers=num_layers, attn_logit_softcapping=6.0, final_logit_softcapping=0.3
    )
    return _randomised(Gemma2ForCausalLM(config))


def write_gemma_gguf(path: Path, model: PreTrainedModel, keys: Mapping[str, object] | None = None) -> Path:
    """Write a model, and `keys` beside those that its configuration gives; norms get their offset of one."""
    is_3 = isinstance(model, Gemma3ForCausalLM)
    name, architecture = ("gemma3", MODEL_ARCH.GEMMA3) if is_3 else ("gemma2", MODEL_ARCH.GEMMA2)
    writer = GGUFWriter(path, name)
    tokenizer = {key: value for key, value in tiny_metadata(TinyModel()).items() if key.startswith("tokenizer.")}
    of_model = {f"{name}.{key}": value for key, value in (_keys(model) | dict(keys or {})).items()}
    for key, value in (tokenizer | of_model).items():
        if value is not None:
            add_key(writer, key, value)
    names = get_tensor_name_map(architecture, model.config.num_hidden_layers)
    for hf_name, tensor in model.state_dict().items():
        if hf_name == "lm_head.weight":
            continue
        stored = tensor + 1 if "norm" in hf_name else tensor
        gguf_name = names.get_name(hf_name, try_suffixes=(".weight",))
        assert gguf_name is not None, hf_name
        writer.add_tensor(gguf_name, stored.detach().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _keys(model: PreTrainedModel) -> dict[str, object]:
    config = model.config
    keys: dict[str, object] = {
        "block_count": config.num_hidden_layers,
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": config.head_dim,
        "attention.value_length": config.head_dim,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "attention.sliding_window": config.sliding_window,
    }
    if isinstance(model, Gemma3ForCausalLM):
        rope = config.rope_parameters["full_attention"]
        scaling = {"rope.scaling.type": "linear", "rope.scaling.factor": rope["factor"]}
        return keys | {"rope.freq_base": rope["rope_theta"]} | scaling
    return keys | {
        "attn_logit_softcapping": config.attn_logit_softcapping,
        "final_logit_softcapping": config.final_logit_softcapping,
    }


def _randomised(model: PreTrainedModel) -> PreTrainedModel:
    """Weights so large that every layer is felt, embeddings so small that a token is not its own best successor, and
    attention so sharp that a text does not settle down.
    """
    random = torch.Generator().manual_seed(3)
    for name, tensor in model.state_dict().items():
        spread = next((size for part, size in _SPREADS.items() if part in name), 0.2)
        mean = 1.0 if "q_norm" in name or "k_norm" in name else 0.0
        tensor.copy_(mean + torch.randn(tensor.shape, generator=random) * spread)
    model.tie_weights()
    return model.to(torch.float32).eval()
