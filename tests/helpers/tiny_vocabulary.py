"""GGUF metadata of two tiny tokenizers: byte-level BPE in ChatML style, and SentencePiece with byte fallback."""

from __future__ import annotations

from pagedesk.engine.text.detokenizer import _byte_alphabet

END_OF_TEXT, IM_START, IM_END, THINK = 0, 1, 2, 3
CHATML_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
BPE_SIZE = 4 + 256 + 3


def byte_level_metadata(template: str | None = CHATML_TEMPLATE) -> dict[str, object]:
    """Ids: 0 end of text, 1 <|im_start|>, 2 <|im_end|>, 3 <think>, 4 + b for byte b, then "us", "er", "user"."""
    letters = {byte: letter for letter, byte in _byte_alphabet().items()}
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>"]
    metadata: dict[str, object] = {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": [*special, *(letters[byte] for byte in range(256)), "us", "er", "user"],
        "tokenizer.ggml.token_type": [3, 3, 3, 4, *[1] * 259],
        "tokenizer.ggml.merges": ["u s", "e r", "us er"],
        "tokenizer.ggml.bos_token_id": IM_START,
        "tokenizer.ggml.eos_token_id": IM_END,
        "tokenizer.ggml.add_bos_token": False,
    }
    return metadata if template is None else metadata | {"tokenizer.chat_template": template}


def sentencepiece_metadata(template: str | None = None) -> dict[str, object]:
    """Ids: 0 <unk>, 1 <s>, 2 </s>, 3 + b for byte b, then letters and a few words."""
    words = ["▁", "a", "b", "▁a", "ab", "▁ab", "▁▁"]
    metadata: dict[str, object] = {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words],
        "tokenizer.ggml.scores": [0.0] * 259 + [-float(rank) for rank in range(len(words))],
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * len(words)],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    return metadata if template is None else metadata | {"tokenizer.chat_template": template}
