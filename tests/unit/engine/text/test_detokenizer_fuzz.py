"""Ten thousand streams of tokens for each kind of vocabulary, cut anywhere: nothing lost, doubled or broken.

Texts are cut into tokens in every way that the vocabulary allows, most of which its tokenizer would never choose.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import pytest

from pagedesk.engine.text.detokenizer import Detokenizer, decode, token_bytes
from pagedesk.engine.text.vocabulary import Vocabulary
from pagedesk.engine.weights.gguf import GgufFile
from tests.helpers.broken_text import whole_text
from tests.helpers.starter import starter_model
from tests.helpers.tiny_vocabulary import sentencepiece_metadata

NUM_STREAMS = 10_000
BROKEN = "\N{REPLACEMENT CHARACTER}"
LETTERS = [
    *"ab  e\n",
    *"\u00e9\u00df\u0416\u05d0\u0e01",
    *"\u65e5\u672c\u30c6\u2581\ufeff",
    *"\U0001f423\U0001f468\u200d\U0001f9e6",
    "\U0010ffff",
]
NO_BEGINNINGS = [b"\x80", b"\xbf", b"\xc0", b"\xc1", b"\xf5", b"\xff"]


class Pieces:
    """The tokens of a vocabulary by their bytes.

    Attributes:
        no_beginnings: Bytes that begin no character, as far as the vocabulary can write them.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.table = token_bytes(vocabulary)
        self._ids: defaultdict[bytes, list[int]] = defaultdict(list)
        for token_id, data in enumerate(self.table):
            self._ids[data].append(token_id)
        self.no_beginnings = [data for data in NO_BEGINNINGS if data in self._ids]
        self._longest = 6

    def cut(self, data: bytes, draw: random.Random) -> list[int]:
        """Some way to write these bytes."""
        ids: list[int] = []
        while data:
            sizes = [size for size in range(1, min(self._longest, len(data)) + 1) if data[:size] in self._ids]
            size = draw.choice(sizes)
            ids.append(draw.choice(self._ids[data[:size]]))
            data = data[size:]
        return ids


@pytest.fixture(scope="module", params=["byte fallback", "byte level"])
def pieces(request: pytest.FixtureRequest) -> Pieces:
    if request.param == "byte fallback":
        return Pieces(Vocabulary(sentencepiece_metadata()))
    with GgufFile(starter_model()) as file:
        return Pieces(Vocabulary(file.metadata))


def streams(seed: int) -> Iterator[tuple[str, random.Random]]:
    """Texts, and what to cut them with."""
    for index in range(NUM_STREAMS):
        draw = random.Random(f"{seed} {index}")
        yield "".join(draw.choices(LETTERS, k=draw.randrange(12))), draw


def test_text_in_tokens_of_any_cut_comes_out_as_it_is(pieces: Pieces) -> None:
    for text, draw in streams(1):
        assert decode(pieces.table, pieces.cut(text.encode(), draw)) == text


def test_what_is_shown_at_any_moment_is_every_whole_character_and_no_broken_one(pieces: Pieces) -> None:
    for text, draw in streams(2):
        ids = pieces.cut(text.encode(), draw)
        ids = ids[: draw.randrange(len(ids) + 1)]
        written = b"".join(pieces.table[token_id] for token_id in ids)
        detokenizer = Detokenizer(pieces.table)
        shown = "".join(map(detokenizer.add, ids))
        assert shown == written.decode(errors="ignore")


def test_a_leading_space_is_dropped_once_whatever_token_brings_it(pieces: Pieces) -> None:
    for text, draw in streams(3):
        assert decode(pieces.table, pieces.cut(f" {text}".encode(), draw), strip_space=True) == text


def test_a_byte_that_begins_no_character_is_one_replacement_and_harms_no_neighbour(pieces: Pieces) -> None:
    for text, draw in streams(4):
        place = draw.randrange(len(text) + 1)
        before, after = text[:place], text[place:]
        data = before.encode() + draw.choice(pieces.no_beginnings) + after.encode()
        assert decode(pieces.table, pieces.cut(data, draw)) == before + BROKEN + after


def test_a_character_that_is_broken_off_is_one_replacement_or_nothing_at_the_end(
    pieces: Pieces,
) -> None:
    for text, draw in streams(5):
        place = draw.randrange(len(text) + 1)
        before, after = text[:place], text[place:]
        whole = draw.choice(LETTERS[6:]).encode()
        data = before.encode() + whole[: draw.randrange(1, len(whole))] + after.encode()
        assert decode(pieces.table, pieces.cut(data, draw)) == before + (BROKEN + after if after else "")


def test_any_tokens_whatever_give_the_text_of_all_bytes_at_once(pieces: Pieces) -> None:
    for _, draw in streams(6):
        ids = draw.choices(range(len(pieces.table)), k=draw.randrange(20))
        written = b"".join(pieces.table[token_id] for token_id in ids)
        assert decode(pieces.table, ids) == whole_text(written)
