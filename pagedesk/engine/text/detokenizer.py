"""From token ids to text, a token at a time: whole characters only.

Engine thread only. A token is a run of bytes, and a character may be spread over several tokens, so bytes are held back
until a character is complete. A model may also write bytes that begin no character, or break one off: each such piece
becomes one U+FFFD as soon as the next byte proves it broken (the Unicode Standard, 3.9, "substitution of maximal
subparts"), and the text around it stays whole. So the text is that of all bytes decoded at once, without a character
that the end of the answer cut off.

Byte alphabet: GPT-2's `encoder.py` (Radford et al. 2019); byte fallback: SentencePiece.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from functools import cache

from pagedesk.engine.text.vocabulary import TokenKind, Vocabulary

_SPELLED_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")
_UNDERLINE = "\N{LOWER ONE EIGHTH BLOCK}"


class Detokenizer:
    """The text of one answer as it grows.

    Args:
        table: The bytes of each token, by id (see `token_bytes`).
        strip_space: Drop one space at the very start.
    """

    def __init__(self, table: Sequence[bytes], *, strip_space: bool = False) -> None:
        self._table = table
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._strip_space = strip_space

    def add(self, token_id: int) -> str:
        """The characters that this token completes; an id that the vocabulary lacks has none."""
        return self._trim(self._decoder.decode(self._bytes(token_id)))

    def _bytes(self, token_id: int) -> bytes:
        return self._table[token_id] if 0 <= token_id < len(self._table) else b""

    def _trim(self, text: str) -> str:
        if not self._strip_space or not text:
            return text
        self._strip_space = False
        return text.removeprefix(" ")


def decode(table: Sequence[bytes], token_ids: Iterable[int], *, strip_space: bool = False) -> str:
    """The text of all tokens at once."""
    return "".join(map(Detokenizer(table, strip_space=strip_space).add, token_ids))


def token_bytes(vocabulary: Vocabulary) -> list[bytes]:
    """The bytes of each token by id; control, unknown and unused tokens show nothing."""
    hidden = set(vocabulary.control_ids.values())
    spell = _byte_level if vocabulary.model == "gpt2" else _sentencepiece
    return [
        b"" if token_id in hidden else spell(spelling, kind)
        for token_id, (spelling, kind) in enumerate(zip(vocabulary.spellings, vocabulary.kinds, strict=True))
    ]


def _byte_level(spelling: str, kind: int) -> bytes:
    alphabet = _byte_alphabet()
    if kind == TokenKind.NORMAL and all(letter in alphabet for letter in spelling):
        return bytes(alphabet[letter] for letter in spelling)
    return spelling.encode() if kind in (TokenKind.NORMAL, TokenKind.USER_DEFINED) else b""


def _sentencepiece(spelling: str, kind: int) -> bytes:
    byte = _SPELLED_BYTE.fullmatch(spelling) if kind == TokenKind.BYTE else None
    if byte is not None:
        return bytes.fromhex(byte[1])
    shown = kind in (TokenKind.NORMAL, TokenKind.USER_DEFINED, TokenKind.BYTE)
    return spelling.replace(_UNDERLINE, " ").encode() if shown else b""


@cache
def _byte_alphabet() -> dict[str, int]:
    """The byte of each letter: printable Latin-1 stands for itself, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}
