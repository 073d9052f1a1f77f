"""Ids from text: control tokens are never made from plain text, and the start of a prompt follows the model's rules."""

from __future__ import annotations

import math

import pytest

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.text.tokenizer import Tokenizer
from pagedesk.engine.text.vocabulary import Vocabulary
from tests.helpers.tiny_vocabulary import BPE_SIZE, IM_END, IM_START, byte_level_metadata, sentencepiece_metadata

BYTES = Tokenizer(byte_level_metadata())
PIECES = Tokenizer(sentencepiece_metadata())


def spelled(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    return [tokenizer.vocabulary.spellings[token_id] for token_id in ids]


def test_merges_apply() -> None:
    assert spelled(BYTES, BYTES.encode(["user!"])) == ["user", "!"]


def test_splitting_finds_control_tokens() -> None:
    assert BYTES.split("a<|im_start|><|im_end|>b") == ["a", IM_START, IM_END, "b"]


def test_plain_text_that_spells_a_control_token_stays_text() -> None:
    assert IM_END not in BYTES.encode(["a <|im_end|> b"])


def test_a_user_defined_token_is_found_in_text() -> None:
    assert spelled(BYTES, BYTES.encode(["<think>!"])) == ["<think>", "!"]


def test_digits_stand_alone_in_the_smollm_rule() -> None:
    assert "".join(spelled(BYTES, BYTES.encode(["a  12"]))) == "aĠĠ12"


def test_only_the_first_piece_gets_the_space_in_front() -> None:
    assert spelled(PIECES, PIECES.encode(["ab", 2, "ab"])) == ["<s>", "▁ab", "</s>", "ab"]


def test_bos_is_put_in_front_where_the_model_wants_it() -> None:
    assert PIECES.encode(["a"])[0] == 1


def test_bos_is_not_doubled() -> None:
    assert PIECES.encode(PIECES.split("<s>a")).count(1) == 1


def test_bos_is_not_put_where_the_file_says_no() -> None:
    assert IM_START not in BYTES.encode(["a"])


def test_stop_tokens_are_the_named_and_the_well_known_ones() -> None:
    assert BYTES.vocabulary.stop_ids == {0, IM_END}


def test_an_id_beyond_the_vocabulary_is_no_stop_token() -> None:
    metadata = byte_level_metadata() | {"tokenizer.ggml.eot_token_id": BPE_SIZE}
    assert Vocabulary(metadata).stop_ids == {0, IM_END}


def test_end_is_no_stop_token_beside_return_and_call() -> None:
    metadata = byte_level_metadata()
    metadata["tokenizer.ggml.tokens"] = ["<|end|>", "<|return|>", "<|call|>", *metadata["tokenizer.ggml.tokens"][3:]]  # type: ignore[index]
    assert Vocabulary(metadata).stop_ids == {1, 2}


def test_a_turn_marker_that_the_file_calls_user_defined_is_a_control_token() -> None:
    metadata = byte_level_metadata()
    metadata["tokenizer.ggml.token_type"] = [4, 4, 4, 4, *[1] * 259]
    tokenizer = Tokenizer(metadata)
    assert not {0, IM_START, IM_END} & set(tokenizer.encode(["<|im_start|>x<|im_end|>"]))


def test_a_file_without_vocabulary_is_refused_with_a_sentence() -> None:
    with pytest.raises(ModelFileError, match="holds no vocabulary"):
        Tokenizer({"general.architecture": "llama"})


def test_a_tokenizer_of_an_unknown_kind_is_refused_with_its_name() -> None:
    with pytest.raises(ModelFileError, match="of the kind 'rwkv'"):
        Tokenizer(byte_level_metadata() | {"tokenizer.ggml.model": "rwkv"})


@pytest.mark.parametrize(
    "damage",
    [
        {"tokenizer.ggml.merges": [1]},
        {"tokenizer.ggml.merges": True},
        {"tokenizer.ggml.merges": ["z q"]},
        {"tokenizer.ggml.tokens": [""] * BPE_SIZE},
        {"tokenizer.ggml.token_type": ["a"] * BPE_SIZE},
        {"tokenizer.ggml.token_type": [math.nan] * BPE_SIZE},
        {"tokenizer.ggml.token_type": [1]},
        {"tokenizer.ggml.model": "gemma4"},
    ],
    ids=[
        "merges of numbers",
        "no merges",
        "foreign merges",
        "no spellings",
        "kinds of letters",
        "kinds of nan",
        "a kind",
        "no token for the unknown",
    ],
)
def test_a_damaged_vocabulary_is_refused_with_a_sentence(damage: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match=r"^The model.*\.$"):
        Tokenizer(byte_level_metadata() | damage)
