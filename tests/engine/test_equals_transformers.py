"""In float32 the paged engine says what transformers says, token by token, on the real starter model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from transformers import AutoTokenizer

from pagedesk.engine.backends.packing import pack_slices
from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.model_runner import ModelRunner
from pagedesk.engine.models.loading import PlacedDecoder, load_decoder
from pagedesk.geometry import BLOCK_SIZE, blocks_for
from pagedesk.protocol import DType
from tests.helpers.starter import starter_model
from tests.helpers.stepping import SteppedSequence, generate, scattered_blocks
from tests.helpers.transformers_model import load_with_transformers, logits_of

NUM_NEW_TOKENS = 48
NUM_BLOCKS = 256
CHUNK_SIZES = ((7, 13, 31), (64,), (1, 5), (97, 1, 16), (37, 61, 3), (11, 2), (17,), (29, 15))
LONG_TEXT = "The keeper of the lighthouse wrote down the colour of every wave that he saw before dawn. " * 32


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


PROMPTS = {
    "English": user("What is the capital of France, and what is it known for?"),
    "Japanese": user("日本の首都はどこですか。短く答えてください。"),
    "code": user("Explain:\n```python\ndef f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n```"),
    "an emoji family": user("What does 👨‍👩‍👧‍👦 mean?"),
    "600 tokens long": user(LONG_TEXT),
    "one word": user("Hello"),
    "with system prompt": [{"role": "system", "content": "You are a pirate."}, *user("Where is the treasure?")],
    "three turns": [
        *user("My name is Mio."),
        {"role": "assistant", "content": "Nice to meet you, Mio!"},
        *user("Tell me a fact about otters."),
        {"role": "assistant", "content": "Otters hold hands while they sleep."},
        *user("What is my name?"),
    ],
}


@dataclass
class Witnessed:
    """What both engines computed for each prompt, by its name."""

    sequences: dict[str, SteppedSequence]
    ours: dict[str, torch.Tensor]
    theirs: dict[str, torch.Tensor]


def encode_prompts() -> dict[str, list[int]]:
    path = starter_model()
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    return {
        name: tokenizer.encode(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True),
            add_special_tokens=False,
        )
        for name, messages in PROMPTS.items()
    }


def chunked_logits(placed: PlacedDecoder, sequence: SteppedSequence) -> torch.Tensor:
    """Our logits after each token, computed through the cache in chunks."""
    sequence.num_computed = sequence.num_chunks = 0
    parts = []
    with torch.inference_mode():
        while sequence.num_computed < len(sequence.tokens):
            piece: SequenceSlice = sequence.next_slice()
            step = pack_slices([piece], BLOCK_SIZE, torch.device("cpu"))
            attention = placed.decoder.plan_attention(step.batches)
            hidden = placed.decoder.forward(step.token_ids, step.positions, attention, placed.kv_cache)
            parts.append(placed.decoder.logits(hidden))
            sequence.update(piece, None)
    return torch.cat(parts)


def their_logits(sequences: dict[str, SteppedSequence]) -> dict[str, torch.Tensor]:
    model = load_with_transformers(starter_model())
    return {name: logits_of(model, sequence.tokens) for name, sequence in sequences.items()}


@pytest.fixture(scope="module")
def witnessed() -> Witnessed:
    prompts = encode_prompts()
    config = EngineConfig(starter_model(), dtype=DType.FLOAT32, device="cpu", num_blocks=NUM_BLOCKS)
    placed = load_decoder(config, lambda *_: None)
    tables = scattered_blocks(NUM_BLOCKS, [blocks_for(len(ids) + NUM_NEW_TOKENS) for ids in prompts.values()])
    sequences = {
        name: SteppedSequence(index, ids, tables[index], CHUNK_SIZES[index])
        for index, (name, ids) in enumerate(prompts.items())
    }
    generate(ModelRunner(placed.decoder, placed.kv_cache, placed.num_tokens), list(sequences.values()), NUM_NEW_TOKENS)
    ours = {name: chunked_logits(placed, sequence) for name, sequence in sequences.items()}
    return Witnessed(sequences, ours, their_logits(sequences))


@pytest.mark.parametrize("name", PROMPTS)
def test_greedy_tokens_equal_those_of_transformers(witnessed: Witnessed, name: str) -> None:
    """If each token is transformers' choice after the tokens before it, the texts are equal by induction."""
    sequence = witnessed.sequences[name]
    choices = witnessed.theirs[name][len(sequence.prompt) - 1 : -1].argmax(1).tolist()
    assert sequence.generated == choices


@pytest.mark.parametrize("name", PROMPTS)
def test_logits_differ_by_less_than_a_thousandth(witnessed: Witnessed, name: str) -> None:
    assert (witnessed.ours[name] - witnessed.theirs[name]).abs().max() < 1e-3


def test_the_long_prompt_is_long(witnessed: Witnessed) -> None:
    assert len(witnessed.sequences["600 tokens long"].prompt) >= 600
