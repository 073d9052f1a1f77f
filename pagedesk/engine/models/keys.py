"""Reads the keys of a model's metadata and checks what they hold. Stdlib only, any thread."""

from __future__ import annotations

from collections.abc import Mapping

from pagedesk.engine.errors import ModelFileError

DAMAGED = "Download the file again, or choose another one."
OTHER_MODEL = "Choose another model."
_MAX_SIZE = 1 << 24


class ModelKeys:
    """The `{architecture}.*` keys of a file."""

    def __init__(self, architecture: str, metadata: Mapping[str, object]) -> None:
        self._architecture = architecture
        self._metadata = metadata

    def get(self, key: str) -> object:
        """The value, or None. A list of equal values, one a layer, counts as that value."""
        value = self._metadata.get(f"{self._architecture}.{key}")
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            return value[0]
        return value

    def size(self, key: str, default: int | None = None) -> int:
        """A positive integer."""
        value = self.get(key)
        if value is None:
            value = default
        if not isinstance(value, int) or not 0 < value <= _MAX_SIZE:
            raise self.error(key, value)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number that is not negative."""
        value = self.get(key)
        if value is None:
            value = default
        if not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise self.error(key, value)
        return float(value)

    def flags(self, key: str, count: int) -> tuple[bool, ...] | None:
        """A truth value for each of `count` layers; None where the key is absent or no list."""
        values = self._metadata.get(f"{self._architecture}.{key}")
        if not isinstance(values, list):
            return None
        if len(values) != count:
            raise self.error(key, values)
        return tuple(bool(value) for value in values)

    def num_tokens(self) -> int:
        """Length of the vocabulary that the file carries."""
        tokens = self._metadata.get("tokenizer.ggml.tokens")
        return len(tokens) if isinstance(tokens, list) else 0

    def error(self, key: str, value: object) -> ModelFileError:
        """The refusal of a key."""
        said = "is missing" if value is None else f"is {value!r:.60}"
        return ModelFileError(f"The model's description is damaged: {self._architecture}.{key} {said}.", DAMAGED)
