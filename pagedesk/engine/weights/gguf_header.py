"""Reads the values of a GGUF header from a file that may be damaged or hostile.

Stdlib only, any thread. Every length is checked against the bytes that are left before anything is allocated.
Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

Metadata: TypeAlias = dict[str, object]
"""Key to str, int, float, bool or a list of these."""

_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LENGTH = struct.Struct("<Q")
_ARRAY_HEAD = struct.Struct("<IQ")
_MAX_ARRAY_ELEMENTS = 1 << 24
_MAX_ARRAY_DEPTH = 4
_MIN_KEY_VALUE_BYTES = 8 + 4 + 1
_READ_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 28


class HeaderError(Exception):
    """The header says something that cannot be; the message is the rest of a sentence on the file."""


class HeaderTruncatedError(HeaderError):
    """The file ends inside its header.

    Attributes:
        missing_bytes: At least so many bytes are missing.
    """

    def __init__(self, missing_bytes: int) -> None:
        super().__init__("ends in the middle of its header")
        self.missing_bytes = missing_bytes


class HeaderCursor:
    """Walks through the header, value by value; what it has read of the file stays in memory.

    Args:
        read: Gives the bytes of the file at a place: (offset, how many).
        file_bytes: Size of the file.
        offset: Where the first value is.
    """

    def __init__(self, read: Callable[[int, int], bytes], file_bytes: int, offset: int) -> None:
        self._read = read
        self._buffer = bytearray()
        self._size = file_bytes
        self._elements_left = _MAX_ARRAY_ELEMENTS
        self.offset = offset

    def number(self, type_id: int) -> int | float | bool:
        """One number of a GGUF value type."""
        layout = f"<{_FORMATS[type_id]}"
        start = self._advance(struct.calcsize(layout))
        (value,) = struct.unpack_from(layout, self._buffer, start)
        return value  # type: ignore[no-any-return]  # struct gives Any

    def count(self, type_id: int = 10) -> int:
        """One unsigned integer (by default 64 bits)."""
        return int(self.number(type_id))

    def string(self) -> str:
        """One string; bytes that are not UTF-8 become U+FFFD."""
        length = self.count()
        start = self._advance(length)
        return self._buffer[start : start + length].decode("utf-8", "replace")

    def value(self, type_id: int, depth: int = 0) -> object:
        """One value of any type; arrays become lists."""
        if type_id in _FORMATS:
            return self.number(type_id)
        if type_id == _STRING:
            return self.string()
        if type_id == _ARRAY:
            return self._array(depth)
        raise HeaderError(f"has a value of the unknown kind {type_id}")

    def key_values(self, num_pairs: int) -> Metadata:
        """So many pairs of key and value."""
        self.check_count(num_pairs, _MIN_KEY_VALUE_BYTES)
        pairs: Metadata = {}
        for _ in range(num_pairs):
            key = self.string()
            if key in pairs:
                raise HeaderError(f"names the key {key[:80]!r} twice")
            pairs[key] = self.value(self.count(4))
        return pairs

    def check_count(self, count: int, min_bytes_each: int) -> None:
        """Refuse a count of things that cannot fit into the bytes that are left."""
        missing = self.offset + count * min_bytes_each - self._size
        if missing > 0:
            raise HeaderTruncatedError(missing)

    def _array(self, depth: int) -> list[object]:
        start = self._advance(_ARRAY_HEAD.size)
        type_id, count = _ARRAY_HEAD.unpack_from(self._buffer, start)
        self._check_elements(count, depth)
        if type_id in _FORMATS:
            return self._numbers(type_id, count)
        if type_id == _STRING:
            return self._strings(count)
        return [self.value(type_id, depth + 1) for _ in range(count)]

    def _numbers(self, type_id: int, count: int) -> list[object]:
        layout = f"<{count}{_FORMATS[type_id]}"
        start = self._advance(struct.calcsize(layout))
        return list(struct.unpack_from(layout, self._buffer, start))

    def _strings(self, count: int) -> list[object]:
        """The hot loop: a vocabulary and its merges are some hundred thousand strings."""
        self.check_count(count, _LENGTH.size)
        buffer, offset, unpack = self._buffer, self.offset, _LENGTH.unpack_from
        filled = len(buffer)
        strings: list[object] = []
        for _ in range(count):
            start = offset + 8
            if start > filled:
                filled = self._fill(start)
            offset = start + unpack(buffer, offset)[0]
            if offset > filled:
                filled = self._fill(offset)
            strings.append(buffer[start:offset].decode("utf-8", "replace"))
        self.offset = offset
        return strings

    def _check_elements(self, count: int, depth: int) -> None:
        if depth >= _MAX_ARRAY_DEPTH:
            raise HeaderError("nests arrays too deep")
        if count > self._elements_left:
            raise HeaderError(f"has arrays with more than {_MAX_ARRAY_ELEMENTS:,} elements")
        self._elements_left -= count

    def _advance(self, num_bytes: int) -> int:
        start = self.offset
        end = start + num_bytes
        if end > len(self._buffer):
            self._fill(end)
        self.offset = end
        return start

    def _fill(self, end: int) -> int:
        """Read on, at least up to `end`; gives how much of the file is in memory now."""
        if end > self._size:
            raise HeaderTruncatedError(end - self._size)
        if end > _MAX_HEADER_BYTES:
            raise HeaderError(f"has a header of more than {_MAX_HEADER_BYTES:,} bytes")
        start = len(self._buffer)
        self._buffer += self._read(start, min(max(end - start, _READ_BYTES), self._size - start))
        return len(self._buffer)
