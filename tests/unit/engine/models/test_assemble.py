"""Which rows of a file end up where in the fused matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from pagedesk.engine.models.assemble import assemble_weights
from pagedesk.engine.models.config import read_decoder_config
from pagedesk.engine.models.decoder import DecoderWeights
from pagedesk.engine.models.registry import Architecture, find_architecture
from pagedesk.engine.weights.gguf import GgufFile
from pagedesk.engine.weights.reader import WeightReader
from tests.helpers.tiny_gguf import TinyModel, tiny_tensors, write_tiny_gguf

MODEL = TinyModel()
QUERY_ROWS, KEY_ROWS, HALF = 64, 32, 8


def assemble(folder: Path, model: TinyModel, architecture: Architecture | None = None) -> DecoderWeights:
    with GgufFile(write_tiny_gguf(folder / "tiny.gguf", model)) as file:
        reader = WeightReader(file, torch.float32, torch.device("cpu"), lambda *_: None)
        architecture = architecture or find_architecture(file.metadata)
        return assemble_weights(architecture, read_decoder_config(architecture, file.metadata), reader)


def test_the_pairs_of_a_llamas_queries_and_keys_are_put_back_into_halves(tmp_path: Path) -> None:
    qkv = assemble(tmp_path, MODEL).layers[0].qkv.matrix.numpy()
    stored = tiny_tensors(MODEL)
    for name, start in (("attn_q", 0), ("attn_k", QUERY_ROWS)):
        rows = stored[f"blk.0.{name}.weight"]
        for head in range(len(rows) // (2 * HALF)):
            for pair in range(HALF):
                first = start + head * 2 * HALF + pair
                assert np.array_equal(qkv[first], rows[head * 2 * HALF + 2 * pair])
                assert np.array_equal(qkv[first + HALF], rows[head * 2 * HALF + 2 * pair + 1])


def test_values_keep_their_rows(tmp_path: Path) -> None:
    qkv = assemble(tmp_path, MODEL).layers[1].qkv.matrix.numpy()
    assert np.array_equal(qkv[QUERY_ROWS + KEY_ROWS :], tiny_tensors(MODEL)["blk.1.attn_v.weight"])


def test_an_architecture_whose_pairs_are_halves_keeps_all_rows(tmp_path: Path) -> None:
    qkv = assemble(tmp_path, MODEL, Architecture("llama", pairs_interleaved=False)).layers[0].qkv.matrix.numpy()
    assert np.array_equal(qkv[:QUERY_ROWS], tiny_tensors(MODEL)["blk.0.attn_q.weight"])


def test_gate_lies_above_up(tmp_path: Path) -> None:
    fused = assemble(tmp_path, MODEL).layers[0].gate_and_up.matrix.numpy()
    stored = tiny_tensors(MODEL)
    assert np.array_equal(fused, np.concatenate((stored["blk.0.ffn_gate.weight"], stored["blk.0.ffn_up.weight"])))


def test_a_bias_is_reordered_as_its_rows_are_and_a_missing_one_is_zero(tmp_path: Path) -> None:
    """The bias of each query row is the first number of that row, so both must meet again after reordering."""
    bias = np.ascontiguousarray(tiny_tensors(MODEL)["blk.0.attn_q.weight"][:, 0])
    qkv = assemble(tmp_path, TinyModel(tensors={"blk.0.attn_q.bias": bias})).layers[0].qkv
    assert qkv.bias is not None
    assert torch.equal(qkv.bias[:QUERY_ROWS], qkv.matrix[:QUERY_ROWS, 0])
    assert not qkv.bias[QUERY_ROWS:].any()


def test_a_model_without_a_head_uses_its_embedding(tmp_path: Path) -> None:
    weights = assemble(tmp_path, MODEL)
    assert weights.head.matrix is weights.embedding


def test_the_factors_of_the_angles_are_honoured(tmp_path: Path) -> None:
    factors = np.linspace(1, 8, HALF, dtype=np.float32)
    plain = assemble(tmp_path, MODEL).rope_frequencies
    scaled = assemble(tmp_path, TinyModel(tensors={"rope_freqs.weight": factors})).rope_frequencies
    torch.testing.assert_close(scaled, plain / torch.from_numpy(factors))
