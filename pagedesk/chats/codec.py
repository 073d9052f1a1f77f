"""How parts, token ids and the end of a reply are written into a row, and read back.

Parts are a JSON list of objects with a `kind`; token ids are a byte that says their width (2 or 4), then
little-endian unsigned integers of that width. A disk may give back anything in their place: nothing here raises for it.
"""

from __future__ import annotations

import json
import re
import sys
from array import array
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from pagedesk.chats.models import ReplyEnd, StoredPart, UnknownPart
from pagedesk.protocol import FinishReason, MissReason, ReasoningPart, TextPart, Timings, Usage

_TYPECODES = {2: "H", 4: "I"}
_TEXT_OF_PART = re.compile(r'"text": "((?:[^"\\]|\\.)*)', re.DOTALL)


def encode_parts(parts: Sequence[StoredPart]) -> str:
    """The JSON list of some parts."""
    return "[" + ",".join(_encode_part(part) for part in parts) + "]"


def decode_parts(text: str) -> tuple[StoredPart, ...] | None:
    """The parts of a JSON list; kinds that are not known stay as they were. None: the list is damaged."""
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(_decode_part(part) for part in parts) if isinstance(parts, list) else None


def salvage_parts(text: str) -> tuple[StoredPart, ...]:
    """What can be read of a damaged list: the texts in it as far as they go, or else all of it as it is."""
    found = [_unescaped(match[1]) for match in _TEXT_OF_PART.finditer(text)] or [text]
    return tuple(TextPart(piece) for piece in found if piece)


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _encode_part(part: StoredPart) -> str:
    if isinstance(part, UnknownPart):
        return part.json
    kind = "text" if isinstance(part, TextPart) else "reasoning"
    return json.dumps({"kind": kind, "text": writable(part.text)}, ensure_ascii=False)


def writable(text: str) -> str:
    """Replace lone surrogates (half an emoji from a clipboard), which UTF-8 cannot hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decode_part(part: object) -> StoredPart:
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        if part.get("kind") == "text":
            return TextPart(part["text"])
        if part.get("kind") == "reasoning":
            return ReasoningPart(part["text"])
    return UnknownPart(json.dumps(part, ensure_ascii=False))


def encode_token_ids(token_ids: Sequence[int]) -> bytes:
    """The bytes of some token ids, each from 0 to 2**32 - 1."""
    width = 4 if token_ids and max(token_ids) > 0xFFFF else 2
    return bytes([width]) + _little_endian(array(_TYPECODES[width], token_ids)).tobytes()


def decode_token_ids(data: object) -> tuple[int, ...]:
    """The token ids that `encode_token_ids` wrote; none if they are damaged: the text has all that they say."""
    if not isinstance(data, bytes) or data[:1] not in (b"\x02", b"\x04") or (len(data) - 1) % data[0]:
        return ()
    numbers = array(_TYPECODES[data[0]])
    numbers.frombytes(data[1:])
    return tuple(_little_endian(numbers))


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def encode_end(end: ReplyEnd | None) -> str | None:
    """The JSON object of a reply's end."""
    return None if end is None else json.dumps(asdict(end))


def decode_end(text: object) -> ReplyEnd | None:
    """The reply's end, or None if there is none, or it is damaged or of another version."""
    if not isinstance(text, str):
        return None
    try:
        end = json.loads(text, parse_constant=_refuse_constant)
        return ReplyEnd(FinishReason(end["reason"]), _decode_usage(end["usage"]), Timings(**_numbers(end["timings"])))
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _decode_usage(usage: dict[str, Any]) -> Usage:
    reason = usage.pop("miss_reason", None)
    return Usage(**_numbers(usage), miss_reason=None if reason is None else MissReason(reason))


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(value, int | float) for value in values.values()):
        raise TypeError("a figure is no number")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
