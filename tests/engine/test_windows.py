"""Models whose layers look back differently far: the engine says what transformers says, far beyond the window.

Tiny random Gemmas in float32, windows of ten tokens, blocks of four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from pagedesk.engine.backends.packing import pack_slices
from pagedesk.engine.batch import SequenceSlice
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.engine import Engine, load_engine
from pagedesk.engine.models.loading import PlacedDecoder, load_decoder
from pagedesk.engine.scheduling.kv_cache_manager import KVCacheManager
from pagedesk.engine.scheduling.sequence import Sequence as Text
from pagedesk.geometry import sequence_blocks
from pagedesk.protocol import DType, Finished, Message, Role, Submit, TextPart, Waiting
from tests.helpers.engines import of_kind, run, submit, text_of, tokens_of
from tests.helpers.gemma_gguf import WINDOW, tiny_gemma_2, tiny_gemma_3, write_gemma_gguf
from tests.helpers.tiny_gguf import tiny_vocabulary
from tests.helpers.transformers_model import logits_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

BLOCK = 4
CHUNK_SIZES = ((1 << 20,), (7, 13, 31), (1, 5), (3,), (64, 1, 1))
MAX_CHUNK = 96
MAKERS: dict[str, tuple[Callable[[], PreTrainedModel], dict[str, object]]] = {
    "gemma 3, five to one": (lambda: tiny_gemma_3(12, 6), {}),
    "gemma 3, in turn": (lambda: tiny_gemma_3(4, 2), {"attention.sliding_window_pattern": [True, False] * 2}),
    "gemma 2": (lambda: tiny_gemma_2(4), {}),
}


@dataclass
class Witnessed:
    """A file and the model that it was made from."""

    path: Path
    witness: PreTrainedModel

    def check(self, prompt: Sequence[int], generated: Sequence[int]) -> None:
        """If each token is the witness's choice after those before it, the texts are equal by induction."""
        assert len(set(generated)) >= len(generated) / 4, "the text is so monotonous that it proves nothing"
        logits = logits_of(self.witness, [*prompt, *generated])
        assert list(generated) == logits[len(prompt) - 1 : -1].argmax(1).tolist()


@pytest.fixture(scope="module", params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Witnessed:
    make, keys = MAKERS[request.param]
    witness = make()
    return Witnessed(write_gemma_gguf(tmp_path_factory.mktemp("gemma") / "tiny.gguf", witness, keys), witness)


def config(path: Path, **options: object) -> EngineConfig:
    return EngineConfig(path, DType.FLOAT32, "cpu", **({"num_blocks": 400, "block_size": BLOCK} | options))  # type: ignore[arg-type]


def random_ids(count: int, seed: int) -> list[int]:
    random = torch.Generator().manual_seed(seed)
    return torch.randint(3, len(tiny_vocabulary()), (count,), generator=random).tolist()


class Stepper:
    """Computes logits through the real block tables, chunk by chunk."""

    def __init__(self, placed: PlacedDecoder) -> None:
        self._placed = placed
        self.windows = tuple(group.window for group in placed.geometry.groups)
        self.manager = KVCacheManager(len(placed.kv_cache), BLOCK, windows=self.windows, max_step_tokens=MAX_CHUNK)
        self.num_texts = 0

    def begin(self, token_ids: Sequence[int]) -> Text:
        self.num_texts += 1
        text = Text(self.num_texts, "c", token_ids, len(self.windows))
        assert self.manager.admit(text, num_spare=0)
        return text

    def step(self, text: Text, num_tokens: int) -> torch.Tensor:
        """Logits after each of the next tokens."""
        start = text.num_computed_tokens
        token_ids = tuple(text.token_ids[start : start + num_tokens])
        assert self.manager.grow(text, len(token_ids))
        piece = SequenceSlice(text.sequence_id, token_ids, start, text.table_parts(), None)
        with torch.inference_mode():
            for source, destination in self.manager.take_copies():
                self._placed.kv_cache[destination] = self._placed.kv_cache[source]
            packed = pack_slices([piece], BLOCK, torch.device("cpu"), self.windows)
            decoder = self._placed.decoder
            attention = decoder.plan_attention(packed.batches)
            logits = decoder.logits(
                decoder.forward(packed.token_ids, packed.positions, attention, self._placed.kv_cache)
            )
        text.num_computed_tokens += len(token_ids)
        self.manager.commit(text)
        self.manager.check_invariants()
        return logits

    def finish(self, text: Text, sizes: Sequence[int]) -> torch.Tensor:
        """Logits after every token that is not computed yet."""
        parts, place = [], 0
        while text.num_uncomputed_tokens:
            parts.append(self.step(text, min(sizes[place % len(sizes)], MAX_CHUNK)))
            place += 1
        return torch.cat(parts)


@pytest.fixture
def stepper(model: Witnessed) -> Stepper:
    return Stepper(load_decoder(config(model.path), lambda *_: None))


@pytest.mark.parametrize("sizes", CHUNK_SIZES, ids=str)
def test_logits_differ_by_less_than_a_thousandth(model: Witnessed, stepper: Stepper, sizes: Sequence[int]) -> None:
    token_ids = random_ids(90, seed=1)
    ours = stepper.finish(stepper.begin(token_ids), sizes)
    assert (ours - logits_of(model.witness, token_ids)).abs().max() < 1e-3


def test_the_window_is_felt(model: Witnessed, stepper: Stepper) -> None:
    """The same model without its window says something else: the test before this one proves something."""
    token_ids = random_ids(90, seed=1)
    ours = stepper.finish(stepper.begin(token_ids), (90,))
    model.witness.config.sliding_window, before = 512, model.witness.config.sliding_window
    theirs = logits_of(model.witness, token_ids)
    model.witness.config.sliding_window = before
    assert (ours - theirs).abs().max() > 0.01


def test_what_left_the_window_is_given_back(stepper: Stepper) -> None:
    text = stepper.begin(random_ids(90, seed=1))
    stepper.finish(text, (5,))
    held = [(window, len(table)) for window, table in zip(stepper.windows, text.tables, strict=True)]
    assert all(num_blocks <= (23 if window is None else -(-(WINDOW + 5) // BLOCK) + 1) for window, num_blocks in held)


@pytest.mark.parametrize("num_same", [3, 30, 41, 64, 89])
def test_a_text_that_begins_like_another_goes_on_from_the_cache(
    model: Witnessed, stepper: Stepper, num_same: int
) -> None:
    stepper.manager.free(_computed(stepper, random_ids(90, seed=1)))
    token_ids = [*random_ids(90, seed=1)[:num_same], *random_ids(20, seed=2)]
    text = stepper.begin(token_ids)
    assert text.num_computed_tokens == num_same
    ours = stepper.finish(text, (7, 2))
    assert (ours - logits_of(model.witness, token_ids)[num_same:]).abs().max() < 1e-3


def test_a_fork_and_its_parent_go_on_apart(model: Witnessed, stepper: Stepper) -> None:
    parent = _computed(stepper, random_ids(50, seed=1))
    child = Text(99, "d", [*parent.token_ids[:49], *random_ids(30, seed=2)], len(stepper.windows))
    assert stepper.manager.fork(parent, child, 49)
    parent.token_ids += random_ids(30, seed=3)
    for text, first in ((parent, 50), (child, 49)):
        ours = stepper.finish(text, (3, 1))
        assert (ours - logits_of(model.witness, text.token_ids)[first:]).abs().max() < 1e-3


def _computed(stepper: Stepper, token_ids: Sequence[int]) -> Text:
    text = stepper.begin(token_ids)
    stepper.finish(text, (11,))
    return text


# Through the whole engine, greedily.


def raw(request_id: str, prompt: Sequence[int], **options: object) -> Submit:
    asked = submit(request_id, chat=request_id, temperature=0.0, ignore_eos=True, **({"max_tokens": 40} | options))  # type: ignore[arg-type]
    message = Message(Role.USER, (TextPart(""),), tuple(prompt))
    return Submit(request_id, asked.chat_id, (message,), asked.sampling, asked.num_answers, raw=True)


def engine_of(model: Witnessed, **options: object) -> Engine:
    return load_engine(config(model.path, **options), lambda *_: None)


def test_chats_together_say_what_the_witness_says(model: Witnessed) -> None:
    engine = engine_of(model, max_batch_tokens=13)
    prompts = {name: random_ids(count, seed=count) for name, count in (("a", 61), ("b", 7), ("c", 33))}
    for name, prompt in prompts.items():
        engine.add(raw(name, prompt))
    events = run(engine)
    for name, prompt in prompts.items():
        model.check(prompt, tokens_of(events, name))


def test_a_next_turn_computes_its_new_tokens_alone(model: Witnessed) -> None:
    engine, prompt = engine_of(model), random_ids(61, seed=1)
    engine.add(raw("first", prompt))
    longer = [*prompt, *tokens_of(run(engine), "first"), *random_ids(9, seed=2)]
    engine.add(raw("next", longer))
    events = run(engine)
    [finished] = of_kind(events, Finished)
    assert finished.usage.cached_tokens == 61 + 40 - 1
    model.check(longer, tokens_of(events, "next"))


def test_regenerating_computes_one_token_of_the_prompt(model: Witnessed) -> None:
    engine, prompt = engine_of(model), random_ids(61, seed=1)
    engine.add(raw("first", prompt))
    run(engine)
    engine.add(raw("again", prompt))
    events = run(engine)
    [finished] = of_kind(events, Finished)
    assert finished.usage.cached_tokens == 60
    model.check(prompt, tokens_of(events, "again"))


def test_each_of_several_answers_is_the_one_of_its_seed(model: Witnessed) -> None:
    engine = engine_of(model)
    engine.add(submit("n", "Tell me everything.", answers=3, max_tokens=40, seed=5, ignore_eos=True))
    answers = run(engine)
    alone = engine_of(model)
    for index in range(3):
        alone.add(submit(str(index), "Tell me everything.", max_tokens=40, seed=5 + index, ignore_eos=True))
        assert text_of(run(alone), str(index)) == text_of(answers, "n", index)


def test_who_loses_its_turn_goes_on_as_if_nothing_had_been(model: Witnessed) -> None:
    engine = engine_of(model, num_blocks=2 * _blocks_of_one(model, 80) + 3, max_batch_tokens=8)
    prompts = {name: random_ids(40, seed=ord(name)) for name in "abcd"}
    for name, prompt in prompts.items():
        engine.add(raw(name, prompt))
    events = run(engine)
    assert of_kind(events, Waiting), "the pool is so small that one must lose its turn"
    for name, prompt in prompts.items():
        model.check(prompt, tokens_of(events, name))


def _blocks_of_one(model: Witnessed, num_tokens: int) -> int:
    groups = load_decoder(config(model.path, num_blocks=64), lambda *_: None).geometry.groups
    return sequence_blocks([group.window for group in groups], num_tokens, 8, BLOCK)
