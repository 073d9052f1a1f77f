from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedesk.chats.codec import (
    decode_end,
    decode_parts,
    decode_token_ids,
    encode_parts,
    encode_token_ids,
    salvage_parts,
)
from pagedesk.chats.models import UnknownPart
from pagedesk.protocol import ReasoningPart, TextPart

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_token_ids_come_back(token_ids: list[int]) -> None:
    assert decode_token_ids(encode_token_ids(token_ids)) == tuple(token_ids)


def test_a_token_id_below_65536_takes_two_bytes() -> None:
    assert len(encode_token_ids([65_535] * 100)) == 201


def test_token_ids_are_little_endian_on_every_machine() -> None:
    assert encode_token_ids([1, 258]) == b"\x02\x01\x00\x02\x01"


@given(st.lists(st.builds(TextPart, TEXTS) | st.builds(ReasoningPart, TEXTS)))
def test_parts_come_back(parts: list[TextPart | ReasoningPart]) -> None:
    assert decode_parts(encode_parts(parts)) == tuple(parts)


def test_a_part_that_is_not_even_an_object_is_kept() -> None:
    assert decode_parts('["odd", {"kind": "text"}]') == (UnknownPart('"odd"'), UnknownPart('{"kind": "text"}'))


def test_the_end_of_another_version_is_read_as_none() -> None:
    assert decode_end('{"reason": "bored", "usage": {}, "timings": {}}') is None


@pytest.mark.parametrize("written", ["", "X{}]", "5", "[" * 100_000, '[{"kind": "text", "text": "a\x00b"}]'])
def test_damaged_parts_are_read_as_none(written: str) -> None:
    assert decode_parts(written) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('X{"kind": "text", "text": "so \\"far\\" ✓"}]', 'so "far" ✓'),
        ('[{"kind": "text", "text": "a\x00b', "a\x00b"),
        ('[{"kind": "text", "text": "bad \\u00zz"}]', "bad \\u00zz"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_of_damaged_parts_the_text_is_salvaged(written: str, read: str) -> None:
    assert salvage_parts(written) == (TextPart(read),)


@pytest.mark.parametrize("data", [None, 5, "text", b"", b"\x07\x01", b"\x02\x01", b"\x04\x01\x02"])
def test_damaged_token_ids_are_read_as_none_at_all(data: object) -> None:
    assert decode_token_ids(data) == ()


@pytest.mark.parametrize("written", [5, "{", "[" * 100_000, '{"reason": "stop", "usage": {"prompt_tokens": "x"}}'])
def test_a_damaged_end_is_read_as_none(written: object) -> None:
    assert decode_end(written) is None
