"""The names that the user sees of a model."""

from pathlib import Path

import pytest

from pagedesk.engine.weights.naming import model_name


@pytest.mark.parametrize(
    ("file_name", "quantisation", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1", "SmolLM2-135M-Instruct"),
        ("Qwen3-8B-Q4_K_M.gguf", "Q4_K_M", "Qwen3-8B"),
        ("gemma-3-4b-it-q4_0.gguf", "Q4_0", "gemma-3-4b-it"),
        ("小さい モデル 🐣.gguf", "F32", "小さい モデル 🐣"),
        ("F16.gguf", "F16", "F16"),
    ],
)
def test_a_model_is_called_by_its_file_without_the_quantisation(file_name, quantisation, name):
    assert model_name(Path(file_name), quantisation) == name
