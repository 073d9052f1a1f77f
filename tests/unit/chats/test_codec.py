from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagedesk.chats.codec import decode_end, decode_parts, decode_token_ids, encode_parts, encode_token_ids
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
