"""The independent witness: transformers' own reading of a GGUF file, in float32."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint


def load_with_transformers(path: Path) -> PreTrainedModel:
    """The model of a GGUF file as transformers configures it, dequantises it and names its tensors.

    `from_pretrained(gguf_file=...)` does the same but wants accelerate, which nothing else here needs.
    """
    config = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    tensors = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=model)["tensors"]
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    assert not unexpected
    assert set(missing) <= {"lm_head.weight"}
    model.tie_weights()
    return model.eval()


def logits_of(model: PreTrainedModel, token_ids: list[int]) -> torch.Tensor:
    """Logits after each token, float32 [num_tokens, vocab_size], in one pass without a cache."""
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([token_ids]), use_cache=False).logits[0]
    return logits
