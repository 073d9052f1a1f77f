"""The runner on tiny real files: what it computes, what it refuses, and that no sequence touches another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType

from pagedesk.engine.batch import SampleSpec, SequenceSlice, StepPlan, TablePart
from pagedesk.engine.config import EngineConfig
from pagedesk.engine.errors import ModelFileError, OutOfBudgetError
from pagedesk.engine.model_runner import LoadedModel, load_model
from pagedesk.engine.models import loading
from pagedesk.protocol import DType, SamplingParams
from tests.helpers.stepping import GREEDY, SteppedSequence, generate, scattered_blocks
from tests.helpers.tiny_gguf import TinyModel, tiny_vocabulary, write_tiny_gguf
from tests.helpers.transformers_model import load_with_transformers, logits_of

NUM_BLOCKS = 64
PROMPTS = ([5, 80, 200, 13, 90], list(range(20, 75)), [270], list(range(250, 220, -1)))
SPEC = SampleSpec(GREEDY, seed=0, draw_index=0)
VARIANTS = {
    "plain": TinyModel(),
    "with a head of its own": TinyModel(tied=False),
    "with a head size of its own": TinyModel(head_size=24),
    "with a head for each query": TinyModel(num_kv_heads=4),
    "quantised": TinyModel(quantisation=GGMLQuantizationType.Q8_0),
    "in half precision": TinyModel(quantisation=GGMLQuantizationType.F16),
    "with another base of the angles": TinyModel(rope_theta=500000.0),
}


def table(*block_ids: int) -> tuple[TablePart, ...]:
    return (TablePart(block_ids),)


def load(path: Path, **config: object) -> LoadedModel:
    options = {"dtype": DType.FLOAT32, "device": "cpu", "num_blocks": NUM_BLOCKS} | config
    return load_model(EngineConfig(path, **options), lambda *_: None)  # type: ignore[arg-type]


def load_tiny(folder: Path, model: TinyModel | None = None, **config: object) -> LoadedModel:
    return load(write_tiny_gguf(folder / "tiny.gguf", model), **config)


def sequences(params: SamplingParams = GREEDY) -> list[SteppedSequence]:
    tables = scattered_blocks(NUM_BLOCKS, [8] * len(PROMPTS))
    sizes = ((2,), (17, 1, 5), (1,), (7, 16))
    return [
        SteppedSequence(index, list(prompt), tables[index], sizes[index], params, seed=index)
        for index, prompt in enumerate(PROMPTS)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_of_a_llama_says_what_transformers_says(tmp_path: Path, variant: str) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf", VARIANTS[variant])
    running = sequences()
    generate(load(path).runner, running, 12)
    witness = load_with_transformers(path)
    for sequence in running:
        choices = logits_of(witness, sequence.tokens)[len(sequence.prompt) - 1 : -1].argmax(1).tolist()
        assert sequence.generated == choices


def test_biases_are_added(tmp_path: Path) -> None:
    """A bias on one of queries, keys and values shifts the text; a bias of zero does not."""
    bias = np.random.default_rng(0).standard_normal(64, dtype=np.float32)

    def text(folder: str, values: np.ndarray | None) -> list[int]:
        (tmp_path / folder).mkdir()
        running = sequences()
        generate(load_tiny(tmp_path / folder, TinyModel(tensors={"blk.0.attn_q.bias": values})).runner, running, 12)
        return [token for sequence in running for token in sequence.generated]

    plain = text("plain", None)
    assert text("zero", bias * 0) == plain
    assert text("random", bias * 4) != plain


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(temperature=1.0)], ids=["greedy", "sampled"])
def test_sequences_say_together_what_each_says_alone(tmp_path: Path, params: SamplingParams) -> None:
    runner = load_tiny(tmp_path).runner
    together = sequences(params)
    generate(runner, together, 16)
    for index in range(len(PROMPTS)):
        alone = sequences(params)[index]
        generate(runner, [alone], 16)
        assert alone.generated == together[index].generated


def test_a_sequence_that_is_computed_anew_goes_on_as_before(tmp_path: Path) -> None:
    runner = load_tiny(tmp_path).runner
    whole, interrupted = sequences(SamplingParams(temperature=1.0))[1], sequences(SamplingParams(temperature=1.0))[1]
    generate(runner, [whole], 16)
    generate(runner, [interrupted], 7)
    interrupted.num_computed, interrupted.block_ids = 0, tuple(range(40, 48))
    generate(runner, [interrupted], 16)
    assert interrupted.generated == whole.generated


def test_blocks_are_copied_before_anything_is_computed(tmp_path: Path) -> None:
    runner = load_tiny(tmp_path).runner
    sequence = sequences()[1]
    generate(runner, [sequence], 1)
    source = sequence.block_ids[sequence.num_computed // 16]
    copied = tuple(60 if block == source else block for block in sequence.block_ids)
    pending = tuple(sequence.tokens[sequence.num_computed :])
    original = runner.run(
        StepPlan((SequenceSlice(0, pending, sequence.num_computed, table(*sequence.block_ids), SPEC),))
    )
    fork = StepPlan((SequenceSlice(1, pending, sequence.num_computed, table(*copied), SPEC),), copies=((source, 60),))
    assert runner.run(fork).tokens[1] == original.tokens[0]


def test_only_slices_that_want_a_token_get_one(tmp_path: Path) -> None:
    result = load_tiny(tmp_path).runner.run(
        StepPlan((SequenceSlice(3, (5, 6, 7), 0, table(0), None), SequenceSlice(4, (5, 6), 0, table(1), SPEC)))
    )
    assert list(result.tokens) == [4]


def test_a_step_of_copies_alone_computes_nothing(tmp_path: Path) -> None:
    assert load_tiny(tmp_path).runner.run(StepPlan((), copies=((1, 2),))).tokens == {}


@pytest.mark.parametrize("spec", [SPEC, None], ids=["when a token is wanted", "while the prompt goes on"])
def test_a_sequence_that_meets_nan_is_a_fault_and_its_neighbour_is_not(tmp_path: Path, spec: SampleSpec | None) -> None:
    vocabulary = np.random.default_rng(0).standard_normal((len(tiny_vocabulary()), 64), dtype=np.float32)
    vocabulary[7] = np.nan
    head = np.random.default_rng(1).standard_normal(vocabulary.shape, dtype=np.float32)
    runner = load_tiny(tmp_path, TinyModel(tensors={"token_embd.weight": vocabulary, "output.weight": head})).runner
    poisoned, healthy = SequenceSlice(1, (5, 7, 6), 0, table(0), spec), SequenceSlice(2, (5, 6), 0, table(1), SPEC)
    result = runner.run(StepPlan((poisoned, healthy)))
    assert result.faults == {1}
    assert list(result.tokens) == [2]


def test_the_blocks_of_a_fault_do_not_poison_who_gets_them_next(tmp_path: Path) -> None:
    """Rows of unequal length are padded with blocks; a NaN left in one would spread through a product with zero."""
    vocabulary = np.random.default_rng(0).standard_normal((len(tiny_vocabulary()), 64), dtype=np.float32)
    vocabulary[7] = np.nan
    head = np.random.default_rng(1).standard_normal(vocabulary.shape, dtype=np.float32)
    runner = load_tiny(tmp_path, TinyModel(tensors={"token_embd.weight": vocabulary, "output.weight": head})).runner
    runner.run(StepPlan((SequenceSlice(1, tuple([7] * 16), 0, table(0), SPEC),)))
    short, long = SequenceSlice(2, (5,), 0, table(0), SPEC), SequenceSlice(3, (6,), 9, table(1), SPEC)
    assert not runner.run(StepPlan((short, long))).faults


def test_rows_of_the_head_beyond_the_vocabulary_are_never_chosen(tmp_path: Path) -> None:
    rows = len(tiny_vocabulary()) + 8
    table = np.random.default_rng(0).standard_normal((rows, 64), dtype=np.float32)
    table[-8:] *= 1000
    model = TinyModel(metadata={"llama.vocab_size": rows}, tensors={"token_embd.weight": table})
    running = sequences()
    generate(load_tiny(tmp_path, model).runner, running, 8)
    assert all(token < rows - 8 for sequence in running for token in sequence.generated)


@pytest.mark.parametrize("dtype", [DType.BFLOAT16, DType.FLOAT16])
def test_half_precision_computes_too(tmp_path: Path, dtype: DType) -> None:
    running = sequences()
    generate(load_tiny(tmp_path, dtype=dtype).runner, running, 8)
    assert all(len(sequence.generated) == 8 for sequence in running)


def test_what_is_known_of_a_model_is_told(tmp_path: Path) -> None:
    loaded = load_tiny(tmp_path, TinyModel(quantisation=GGMLQuantizationType.Q8_0), max_model_len=100)
    assert (loaded.info.name, loaded.info.architecture, loaded.info.quantisation) == ("tiny", "llama", "Q8_0")
    assert loaded.info.max_model_len == loaded.geometry.max_model_len == 100
    assert loaded.info.file_bytes == (tmp_path / "tiny.gguf").stat().st_size
    assert loaded.info.backend_name == "reference"
    assert loaded.metadata["tokenizer.ggml.tokens"] == tiny_vocabulary()


def test_a_model_is_never_longer_than_it_was_trained_for(tmp_path: Path) -> None:
    assert load_tiny(tmp_path, max_model_len=10_000).geometry.max_model_len == 512


def test_the_memory_of_a_model_is_counted_exactly(tmp_path: Path) -> None:
    loaded = load_tiny(tmp_path)
    assert loaded.meter.read().weights_bytes == loaded.info.num_parameters * 4
    assert loaded.meter.read().pool_bytes == loaded.num_blocks * loaded.block_bytes
    assert loaded.num_blocks == NUM_BLOCKS


def test_progress_ends_with_every_byte_of_weights_and_cache(tmp_path: Path) -> None:
    calls: dict[str, tuple[int, int]] = {}
    config = EngineConfig(write_tiny_gguf(tmp_path / "tiny.gguf"), DType.FLOAT32, "cpu", num_blocks=4)
    load_model(config, lambda stage, done, total: calls.update({stage: (done, total)}))
    assert list(calls) == ["header", "weights", "cache"]
    assert all(done == total for done, total in calls.values())


def test_a_folder_with_one_model_is_loaded(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "tiny.gguf")
    assert load(tmp_path).info.name == "tiny"


def test_a_closed_runner_holds_no_cache(tmp_path: Path) -> None:
    runner = load_tiny(tmp_path).runner
    runner.close()
    assert runner._kv_cache.numel() == 0


def test_a_model_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutOfBudgetError):
        load_tiny(tmp_path, num_blocks=None, budget_bytes=1 << 20)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (TinyModel(metadata={"general.architecture": "mamba"}), "'mamba'"),
        (TinyModel(metadata={"split.count": 2}), "one part of a model"),
        (TinyModel(metadata={"llama.block_count": 3}), "lacks the tensor blk.2"),
        (TinyModel(metadata={"llama.block_count": 1}), "does not compute with yet: blk.1"),
        (TinyModel(metadata={"llama.feed_forward_length": 64}), "the shape"),
        (TinyModel(metadata={"llama.vocab_size": 1 << 20}), "the shape"),
        (TinyModel(metadata={"llama.context_length": None}), "context_length is missing"),
    ],
)
def test_a_model_that_cannot_be_computed_is_refused_with_the_reason(
    tmp_path: Path, model: TinyModel, said: str
) -> None:
    with pytest.raises(ModelFileError, match=said):
        load_tiny(tmp_path, model)


def test_a_file_that_is_cut_short_by_a_kilobyte_says_so(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:-1024])
    with pytest.raises(ModelFileError, match=r"1,024 of [\d,]+ bytes are missing"):
        load(path)


def test_a_load_gives_back_what_an_earlier_one_left_before_it_looks_at_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    probe = loading.probe_memory
    monkeypatch.setattr(loading, "give_back_unused", lambda _device: calls.append("give back"))
    monkeypatch.setattr(loading, "probe_memory", lambda device: calls.append("probe") or probe(device))
    load_tiny(tmp_path)
    assert calls[:2] == ["give back", "probe"]
