"""The union of the tokens that end a reply, for the families of models that differ in it."""

from __future__ import annotations

import pytest

from pagedesk.engine.text.stop_tokens import stop_token_ids
from pagedesk.engine.text.vocabulary import Vocabulary
from tests.helpers.tiny_vocabulary import byte_level_metadata

HARMONY = ["a", "<|endoftext|>", "<|return|>", "<|end|>", "<|call|>", "<|start|>", "<|channel|>"]


def stops(spellings: list[str], *sources: object, text: tuple[str, ...] = ()) -> set[str]:
    found = stop_token_ids(spellings, *sources, is_text=lambda token_id: spellings[token_id] in text)
    return {spellings[token_id] for token_id in found}


@pytest.mark.parametrize(
    ("vocabulary", "expected"),
    [
        (["<|begin_of_text|>", "<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"], {1, 2, 3}),
        (["<|endoftext|>", "<|im_start|>", "<|im_end|>"], {0, 2}),
        (["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"], {1, 3}),
        (["<s>", "</s>", "[INST]", "[/INST]"], {1}),
        (["<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"], {2, 3}),
        (HARMONY, {1, 2, 4}),
        (["<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<think>"], {1}),
        (["<|begin_of_text|>", "<|eot|>", "<|header_start|>"], {1}),
    ],
    ids=["llama 3", "chatml", "gemma", "mistral", "phi 3", "harmony", "deepseek", "llama 4"],
)
def test_a_family_ends_its_replies_with_its_own_tokens(vocabulary: list[str], expected: set[int]) -> None:
    assert stop_token_ids(vocabulary) == expected


def test_every_source_adds_to_the_union() -> None:
    spellings = ["a", "b", "c", "d", "<|im_end|>"]
    assert stops(spellings, 0, [1, 2], None) == {"a", "b", "c", "<|im_end|>"}


@pytest.mark.parametrize("source", [-1, 5, None, "1", [7, None, "x"], True, 1.0, {}, [[1]]])
def test_what_is_no_id_of_the_vocabulary_is_passed_over(source: object) -> None:
    assert stop_token_ids(["a", "b", "<|im_end|>"], source) == {2}


def test_the_end_of_a_harmony_message_never_ends_the_reply_whatever_a_file_says() -> None:
    assert stops(HARMONY, [1, 2, 3], 3) == {"<|endoftext|>", "<|return|>", "<|call|>"}


def test_the_end_of_struck_text_ends_no_reply() -> None:
    assert stops(["</s>", "<end_of_turn>", "<s>"], text=("</s>", "<s>")) == {"<end_of_turn>"}
    assert stops(["</s>", "<turn|>", "<|tool_response>"]) == {"<turn|>"}


def test_the_end_of_struck_text_ends_a_reply_where_a_file_names_it() -> None:
    assert stops(["</s>", "x"], 0, text=("</s>",)) == {"</s>"}


@pytest.mark.parametrize(
    ("kind", "ends"), [(1, False), (3, True), (4, False)], ids=["normal", "control", "user defined"]
)
def test_a_vocabulary_tells_struck_text_from_the_end_of_a_text_by_the_kind_of_the_token(kind: int, ends: bool) -> None:
    metadata = byte_level_metadata()
    metadata["tokenizer.ggml.tokens"][3] = "</s>"  # type: ignore[index]
    metadata["tokenizer.ggml.token_type"][3] = kind  # type: ignore[index]
    assert (3 in Vocabulary(metadata).stop_ids) is ends


def test_a_vocabulary_without_kinds_ends_with_all_well_known_tokens() -> None:
    metadata = byte_level_metadata()
    metadata["tokenizer.ggml.tokens"][3] = "</s>"  # type: ignore[index]
    del metadata["tokenizer.ggml.token_type"]
    assert 3 in Vocabulary(metadata).stop_ids


@pytest.mark.parametrize("name", ["eos", "eot", "eom"])
def test_a_vocabulary_takes_each_id_that_its_file_names(name: str) -> None:
    assert 9 in Vocabulary(byte_level_metadata() | {f"tokenizer.ggml.{name}_token_id": 9}).stop_ids
