"""Text from ids, a token at a time: never a part of a character, never a byte lost."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from pagedesk.engine.text.detokenizer import Detokenizer, decode, token_bytes
from pagedesk.engine.text.vocabulary import Vocabulary
from tests.helpers.broken_text import whole_text
from tests.helpers.tiny_vocabulary import BPE_SIZE, byte_level_metadata, sentencepiece_metadata

BYTE_LEVEL = token_bytes(Vocabulary(byte_level_metadata()))
PIECES = token_bytes(Vocabulary(sentencepiece_metadata()))
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FIRST_BYTE = {"byte level": (BYTE_LEVEL, 4), "byte fallback": (PIECES, 3)}


def ids_of(text: str, first: int) -> list[int]:
    return [first + byte for byte in text.encode()]


@pytest.mark.parametrize(("table", "first"), FIRST_BYTE.values(), ids=FIRST_BYTE)
def test_a_character_appears_with_its_last_byte(table: list[bytes], first: int) -> None:
    detokenizer = Detokenizer(table)
    assert [detokenizer.add(token_id) for token_id in ids_of("é日", first)] == ["", "é", "", "", "日"]


@relaxed
@given(st.lists(st.integers(0, BPE_SIZE + 5)))
def test_any_stream_of_byte_level_tokens_gives_the_text_of_all_bytes_at_once(token_ids: list[int]) -> None:
    whole = whole_text(b"".join(BYTE_LEVEL[i] for i in token_ids if i < BPE_SIZE))
    assert decode(BYTE_LEVEL, token_ids) == whole


@relaxed
@given(st.lists(st.integers(0, len(PIECES) - 1)))
def test_any_stream_of_byte_fallback_tokens_gives_the_text_of_all_bytes_at_once(token_ids: list[int]) -> None:
    assert decode(PIECES, token_ids) == whole_text(b"".join(PIECES[i] for i in token_ids))


@relaxed
@given(st.text(), st.data())
def test_text_that_is_cut_anywhere_comes_out_whole(text: str, data: st.DataObject) -> None:
    table = [*BYTE_LEVEL]
    raw, ids = text.encode(), []
    while raw:
        cut = data.draw(st.integers(1, min(len(raw), 5)))
        table.append(raw[:cut])
        ids.append(len(table) - 1)
        raw = raw[cut:]
    assert decode(table, ids) == text


@relaxed
@given(st.text(), st.data())
def test_what_is_shown_never_holds_a_broken_character(text: str, data: st.DataObject) -> None:
    detokenizer = Detokenizer(BYTE_LEVEL)
    ids = ids_of(text, 4)
    shown = "".join(detokenizer.add(token_id) for token_id in ids[: data.draw(st.integers(0, len(ids)))])
    assert text.startswith(shown)


def test_half_a_character_at_the_end_is_not_shown() -> None:
    assert decode(BYTE_LEVEL, ids_of("a日", 4)[:3]) == "a"


def test_control_tokens_show_nothing() -> None:
    assert decode(BYTE_LEVEL, [1, *ids_of("hi", 4), 2]) == "hi"


@pytest.mark.parametrize("spelling", ["", "<0xZZ>", "<0x4>", "x"])
def test_a_byte_that_is_spelled_wrong_is_shown_as_it_is_spelled(spelling: str) -> None:
    metadata = sentencepiece_metadata()
    metadata["tokenizer.ggml.tokens"][3] = spelling  # type: ignore[index]
    assert token_bytes(Vocabulary(metadata))[3] == spelling.encode()


def test_user_defined_tokens_are_shown() -> None:
    assert decode(BYTE_LEVEL, [3]) == "<think>"


def test_one_leading_space_can_be_dropped() -> None:
    assert decode(PIECES, [259, 259, 260], strip_space=True) == " a"
