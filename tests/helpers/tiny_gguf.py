"""Writes GGUF files of tiny random models: two layers, a byte-level BPE vocabulary, a ChatML template.

The files are real: every loader and tokenizer that reads GGUF reads them. A few hundred kB, written in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize

Array = npt.NDArray[Any]

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
END_OF_TEXT_ID, TURN_START_ID, TURN_END_ID = 0, 1, 2
_MERGES = (
    "Ġ t", "Ġ a", "h e", "i n", "r e", "o n", "Ġt he", "e r", "Ġ s", "a t", "l l", "o u", "Ġ w", "he ll", "hell o",
    "o r", "l d", "Ġw or", "Ġwor ld", "u s", "us er", "a s", "s i", "as si", "assi s", "t a", "n t", "ta nt",
    "assis tant",
)  # fmt: skip
_NORMAL, _CONTROL = 1, 3


@dataclass(frozen=True, slots=True)
class TinyModel:
    """Sizes and contents of a tiny model.

    Attributes:
        head_size: None leaves the key out, so that readers take hidden_size / num_heads.
        scale: Standard deviation of the random weights; 0 makes all logits equal.
        quantisation: Type of the matrices; vectors are always float32.
        chat_template: None leaves the template out.
        metadata: Keys to add or to override; a value of None removes the key.
        tensors: Tensors to add or to override, numpy order (rows, columns); None removes one.
    """

    num_layers: int = 2
    hidden_size: int = 64
    intermediate_size: int = 128
    num_heads: int = 4
    num_kv_heads: int = 2
    head_size: int | None = None
    context_length: int = 512
    rope_theta: float = 10000.0
    tied: bool = True
    scale: float = 0.15
    seed: int = 0
    quantisation: GGMLQuantizationType = GGMLQuantizationType.F32
    chat_template: str | None = CHATML
    metadata: Mapping[str, object] = field(default_factory=dict)
    tensors: Mapping[str, Array | None] = field(default_factory=dict)

    @property
    def key_size(self) -> int:
        """Size of a head."""
        return self.head_size or self.hidden_size // self.num_heads


def write_tiny_gguf(path: Path, model: TinyModel | None = None) -> Path:
    """Write `model` to `path` and return the path."""
    model = model or TinyModel()
    metadata = {key: value for key, value in tiny_metadata(model).items() if value is not None}
    writer = GGUFWriter(path, str(metadata.pop("general.architecture", "llama")))
    for key, value in metadata.items():
        add_key(writer, key, value)
    for name, array in tiny_tensors(model).items():
        _add_tensor(writer, name, array, model.quantisation)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tiny_vocabulary() -> list[str]:
    """Every token of the tiny vocabulary, by id: control tokens, the 256 bytes, the merges."""
    return [*SPECIAL_TOKENS, *byte_alphabet(), *(merge.replace(" ", "") for merge in _MERGES)]


def byte_alphabet() -> list[str]:
    """The printable character that stands for each byte, in the order of the bytes (the GPT-2 alphabet)."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


def tiny_metadata(model: TinyModel) -> dict[str, object]:
    """The key/values of the file, overrides included."""
    tokens = tiny_vocabulary()
    kinds = [_CONTROL] * len(SPECIAL_TOKENS) + [_NORMAL] * (len(tokens) - len(SPECIAL_TOKENS))
    return {
        "general.name": "Tiny",
        "llama.block_count": model.num_layers,
        "llama.context_length": model.context_length,
        "llama.embedding_length": model.hidden_size,
        "llama.feed_forward_length": model.intermediate_size,
        "llama.attention.head_count": model.num_heads,
        "llama.attention.head_count_kv": model.num_kv_heads,
        "llama.attention.key_length": model.head_size,
        "llama.attention.value_length": model.head_size,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": model.rope_theta,
        "llama.rope.dimension_count": model.key_size,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": list(_MERGES),
        "tokenizer.ggml.bos_token_id": TURN_START_ID,
        "tokenizer.ggml.eos_token_id": TURN_END_ID,
        "tokenizer.ggml.unknown_token_id": END_OF_TEXT_ID,
        "tokenizer.ggml.padding_token_id": TURN_END_ID,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": model.chat_template,
        **model.metadata,
    }


def tiny_tensors(model: TinyModel) -> dict[str, Array]:
    """The tensors of the file before quantisation, numpy order, overrides included."""
    random = np.random.default_rng(model.seed)
    hidden = model.hidden_size

    def matrix(rows: int, columns: int) -> Array:
        return random.standard_normal((rows, columns), dtype=np.float32) * np.float32(model.scale)

    def norm() -> Array:
        return 1 + random.standard_normal(hidden, dtype=np.float32) * np.float32(0.1)

    tensors: dict[str, Array | None] = {"token_embd.weight": matrix(len(tiny_vocabulary()), hidden)}
    for layer in range(model.num_layers):
        tensors |= _layer(f"blk.{layer}", model, matrix, norm)
    tensors["output_norm.weight"] = norm()
    if not model.tied:
        tensors["output.weight"] = matrix(len(tiny_vocabulary()), hidden)
    tensors |= model.tensors
    return {name: array for name, array in tensors.items() if array is not None}


def _layer(
    prefix: str, model: TinyModel, matrix: Callable[[int, int], Array], norm: Callable[[], Array]
) -> dict[str, Array]:
    query_rows, key_rows = model.num_heads * model.key_size, model.num_kv_heads * model.key_size
    return {
        f"{prefix}.attn_norm.weight": norm(),
        f"{prefix}.attn_q.weight": matrix(query_rows, model.hidden_size),
        f"{prefix}.attn_k.weight": matrix(key_rows, model.hidden_size),
        f"{prefix}.attn_v.weight": matrix(key_rows, model.hidden_size),
        f"{prefix}.attn_output.weight": matrix(model.hidden_size, query_rows),
        f"{prefix}.ffn_norm.weight": norm(),
        f"{prefix}.ffn_gate.weight": matrix(model.intermediate_size, model.hidden_size),
        f"{prefix}.ffn_up.weight": matrix(model.intermediate_size, model.hidden_size),
        f"{prefix}.ffn_down.weight": matrix(model.hidden_size, model.intermediate_size),
    }


def add_key(writer: GGUFWriter, key: str, value: object) -> None:
    """Write a key in the type that its value has."""
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, list):
        writer.add_array(key, value)
    else:
        raise TypeError(f"no GGUF type for {key} = {value!r}")


def _add_tensor(writer: GGUFWriter, name: str, array: Array, quantisation: GGMLQuantizationType) -> None:
    if array.ndim < 2 or quantisation == GGMLQuantizationType.F32:
        writer.add_tensor(name, array)
    elif quantisation == GGMLQuantizationType.F16:
        writer.add_tensor(name, array.astype(np.float16))
    else:
        writer.add_tensor(name, quantize(array, quantisation), raw_dtype=quantisation)
