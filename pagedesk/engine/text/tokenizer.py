"""From text to token ids, with the rules that the GGUF metadata states.

Engine thread only. The conversion of the metadata into a tokenizer is done by transformers; what is added here is the
line between control tokens and text that merely spells them.
"""

from __future__ import annotations

import copy
import importlib
import logging
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import tokenizers
from tokenizers import pre_tokenizers

from pagedesk.engine.errors import ModelFileError
from pagedesk.engine.text.vocabulary import TokenKind, Vocabulary

_log = logging.getLogger(__name__)
_CONVERTER = "transformers.integrations.gguf.gguf_tokenizer_mapping"
_WHOLE_WORD_PRES = frozenset({"llama-bpe", "llama3", "llama-v3", "tekken"})
_UNKNOWN_LETTER = "\U0010fffd"
_PLAIN_PRES = frozenset({"", "default", "gpt-2"})


class Tokenizer:
    """Encodes pieces of text and ids.

    Args:
        metadata: Key/values of a GGUF file.

    Raises:
        ModelFileError: There is no vocabulary, or one of a kind that is not supported.
    """

    def __init__(self, metadata: Mapping[str, object]) -> None:
        self.vocabulary = Vocabulary(metadata)
        self._at_start = _convert(metadata, self.vocabulary)
        self._further_on = _without_space_prefix(self._at_start)

    def split(self, text: str) -> list[str | int]:
        """Cut text at the control tokens that it spells: plain pieces and ids, no empty piece."""
        ids = self.vocabulary.control_ids
        parts = self.vocabulary.control_pattern.split(text)
        return [ids[part] if index % 2 else part for index, part in enumerate(parts) if part]

    def encode(self, pieces: Iterable[str | int]) -> list[int]:
        """Encode pieces in a row: an id stands for itself, and no text becomes a control token.

        The token that begins a text is put in front if the model wants it and the pieces do not start with it.
        """
        ids: list[int] = []
        for index, piece in enumerate(pieces):
            if isinstance(piece, int):
                ids.append(piece)
            else:
                backend = self._further_on if index else self._at_start
                ids.extend(backend.encode(piece, add_special_tokens=False).ids)
        return self._with_bos(ids)

    def _with_bos(self, ids: list[int]) -> list[int]:
        bos_id = self.vocabulary.bos_id
        if bos_id is None or not self.vocabulary.adds_bos or ids[:1] == [bos_id]:
            return ids
        return [bos_id, *ids]


def import_converter() -> ModuleType:
    """The part of transformers that builds tokenizers; by name, as its import takes a second."""
    return importlib.import_module(_CONVERTER)


def _convert(metadata: Mapping[str, object], vocabulary: Vocabulary) -> tokenizers.Tokenizer:
    converter = import_converter()
    try:
        backend, _ = converter.convert_gguf_tokenizer(
            str(metadata.get("general.architecture", "")), _converter_input(metadata, vocabulary)
        )
        backend.encode(
            _UNKNOWN_LETTER, add_special_tokens=False
        )  # one without a token for what it lacks fails only now
    except (ValueError, KeyError) as error:
        raise ModelFileError(
            f"The model's tokenizer is of the kind {vocabulary.model!r}, which PageDesk cannot build ({error}).",
            "Choose a model of another family.",
        ) from error
    except Exception as error:
        cause = f"The model's vocabulary is damaged: no tokenizer can be built from it ({error})."
        raise ModelFileError(cause, "Download the file again, or choose another one.") from error
    assert isinstance(backend, tokenizers.Tokenizer)
    _apply_split_rule(backend, vocabulary, known=converter.GGUF_PRE_TOKENIZER_SPLITS)
    backend.encode_special_tokens = True
    return backend


def _converter_input(metadata: Mapping[str, object], vocabulary: Vocabulary) -> dict[str, object]:
    control = set(vocabulary.control_ids.values())
    kinds = [TokenKind.CONTROL if token_id in control else kind for token_id, kind in enumerate(vocabulary.kinds)]
    given = {
        "tokenizer_type": vocabulary.model,
        "pre_tokenizer_type": vocabulary.pre,
        "tokens": list(vocabulary.spellings),
        "token_type": [int(kind) for kind in kinds],
        "scores": metadata.get("tokenizer.ggml.scores"),
        "merges": metadata.get("tokenizer.ggml.merges"),
    }
    return {key: value for key, value in given.items() if value is not None}


def _apply_split_rule(backend: tokenizers.Tokenizer, vocabulary: Vocabulary, *, known: Iterable[str]) -> None:
    """Set what transformers leaves at GPT-2's rule."""
    if vocabulary.model != "gpt2":
        return
    if vocabulary.pre == "smollm":
        # Each digit alone, then GPT-2's rule (SmolLM's tokenizer.json).
        digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
        _set_split(backend, pre_tokenizers.Sequence([digits, words]))
    elif vocabulary.pre in _WHOLE_WORD_PRES:
        bpe: Any = backend.model
        bpe.ignore_merges = True
    elif vocabulary.pre not in known and vocabulary.pre not in _PLAIN_PRES:
        _log.warning("unknown rule %r for splitting text; GPT-2's is used, tokens may differ", vocabulary.pre)


def _without_space_prefix(backend: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The same tokenizer for text that does not begin the prompt."""
    rule = backend.pre_tokenizer
    if not isinstance(rule, pre_tokenizers.Metaspace) or rule.prepend_scheme != "first":
        return backend
    further_on = copy.deepcopy(backend)
    _set_split(further_on, pre_tokenizers.Metaspace(prepend_scheme="never", split=False))
    further_on.encode_special_tokens = True
    return further_on


def _set_split(backend: Any, rule: pre_tokenizers.PreTokenizer) -> None:  # noqa: ANN401 - typed read-only by its stubs
    backend.pre_tokenizer = rule
