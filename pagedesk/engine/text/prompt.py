"""From the messages of a chat to the ids of a prompt.

Engine thread only. Two promises: text in a message stays text, whatever control token it spells; and a reply that the
model generated goes in with the ids that it had, so that the cache of the last turn still holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from pagedesk.engine.errors import InvalidRequestError
from pagedesk.engine.text.chat_template import LONE_SURROGATE, ChatTemplate, RefusedError
from pagedesk.engine.text.detokenizer import decode, token_bytes
from pagedesk.engine.text.history import reconcile
from pagedesk.engine.text.tokenizer import Tokenizer
from pagedesk.protocol import Message, Role

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))


class PromptBuilder:
    """Builds prompts for one model.

    Attributes:
        table: The bytes of each token, for detokenizers.
    """

    def __init__(self, tokenizer: Tokenizer, template: ChatTemplate) -> None:
        self.table = token_bytes(tokenizer.vocabulary)
        self._tokenizer = tokenizer
        self._template = template

    @property
    def strips_space(self) -> bool:
        """Whether the text of a reply begins with a space that only its first token's spelling brings."""
        return self._tokenizer.vocabulary.adds_space_prefix

    @property
    def stop_ids(self) -> frozenset[int]:
        """The tokens that end a reply."""
        return self._tokenizer.vocabulary.stop_ids

    def raw(self, messages: Sequence[Message]) -> list[int]:
        """The messages one after the other as they are: token ids where given, else the text, control tokens too.

        Raises:
            InvalidRequestError: An id is given that the vocabulary lacks.
        """
        pieces: list[str | int] = []
        for message in messages:
            self._refuse_foreign_ids(message.token_ids or ())
            pieces += message.token_ids or self._tokenizer.split(_text_of(message))
        return self._tokenizer.encode(pieces)

    def chat(self, messages: Sequence[Message], now: datetime) -> list[int]:
        """The messages through the chat template.

        Raises:
            TemplateError: The template fails, or refuses these messages in every form.
        """
        try:
            return self._render(messages, now)
        except RefusedError:
            changed = reconcile(messages)
            if changed == list(messages):
                raise
            return self._render(changed, now)

    def _render(self, messages: Sequence[Message], now: datetime) -> list[int]:
        marks = _Marks(messages, self._template.source)
        replies = {index: ids for index, message in enumerate(messages) if (ids := self._own_ids(message))}
        while True:
            contents = [self._guarded(_text_of(message), marks.guard) for message in messages]
            marked = [marks.around(i, text) if i in replies else text for i, text in enumerate(contents)]
            rendered = self._template.render(
                [{"role": m.role.value, "content": text} for m, text in zip(messages, marked, strict=True)], now
            )
            kept = marks.unharmed(rendered, contents)
            if kept >= replies.keys():
                return self._encode(rendered, marks, replies)
            # The template rewrites these replies (drops the thinking, say): they go in as it wants them.
            replies = {index: ids for index, ids in replies.items() if index in kept}

    def _own_ids(self, message: Message) -> tuple[int, ...]:
        """The ids of a reply, without the end that the template writes; none if they are not those of its text."""
        if message.role is not Role.ASSISTANT or not message.token_ids:
            return ()
        ids = list(message.token_ids)
        while ids and ids[-1] in self._tokenizer.vocabulary.stop_ids:
            ids.pop()
        is_same = decode(self.table, ids, strip_space=self.strips_space) == message.text
        return tuple(ids) if is_same and all(map(self._is_known, ids)) else ()

    def _is_known(self, token_id: int) -> bool:
        return 0 <= token_id < len(self.table)

    def _refuse_foreign_ids(self, ids: Sequence[int]) -> None:
        foreign = next((token_id for token_id in ids if not self._is_known(token_id)), None)
        if foreign is not None:
            cause = f"The prompt holds the token {foreign}, but this model numbers its tokens from 0 to "
            raise InvalidRequestError(f"{cause}{len(self.table) - 1}.", "Send text, or ids of this model.")

    def _guarded(self, text: str, guard: str) -> str:
        pattern = self._tokenizer.vocabulary.control_pattern
        return pattern.sub(lambda match: "".join(letter + guard for letter in match[0]), text)

    def _encode(self, rendered: str, marks: _Marks, replies: Mapping[int, tuple[int, ...]]) -> list[int]:
        pieces: list[str | int] = []
        for piece in self._tokenizer.split(rendered):
            pieces.extend([piece] if isinstance(piece, int) else self._insert_replies(piece, marks, replies))
        return self._tokenizer.encode(pieces)

    def _insert_replies(self, piece: str, marks: _Marks, replies: Mapping[int, tuple[int, ...]]) -> list[str | int]:
        result: list[str | int] = []
        end = 0
        for match in marks.pattern.finditer(piece):
            ids = replies[int(match[1])]
            before = piece[end : match.start()].replace(marks.guard, "")
            if before.endswith(" ") and self.table[ids[0]].startswith(b" "):
                before = before[:-1]
            result.extend([before, *ids])
            end = match.end()
        return [part for part in [*result, piece[end:].replace(marks.guard, "")] if part != ""]


def _text_of(message: Message) -> str:
    """The text, with U+FFFD for what no encoding can write: half of a surrogate pair."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", message.text)


class _Marks:
    """Three letters that occur nowhere in a chat: one to break up spellings, two to enclose replies."""

    def __init__(self, messages: Sequence[Message], source: str) -> None:
        used = set(source).union(*(message.text for message in messages))
        free = (chr(code) for code in chain(*_PRIVATE_USE) if chr(code) not in used)
        self.guard, self._open, self._close = next(free), next(free), next(free)
        self.pattern = re.compile(f"{self._open}([0-9]+){self._close}(.*?){self._open}\\1{self._close}", re.DOTALL)

    def around(self, index: int, text: str) -> str:
        mark = f"{self._open}{index}{self._close}"
        return f"{mark}{text}{mark}"

    def unharmed(self, rendered: str, contents: Sequence[str]) -> set[int]:
        """The replies that stand in the rendered text as they are in the chat."""
        return {int(m[1]) for m in self.pattern.finditer(rendered) if m[2] == contents[int(m[1])]}


def prompt_builder(metadata: Mapping[str, object]) -> PromptBuilder:
    """The text side of a model, from the key/values of its GGUF file.

    Raises:
        ModelFileError: The file's vocabulary cannot be used.
    """
    tokenizer = Tokenizer(metadata)
    names = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
    spellings = {name: tokenizer.vocabulary.spelling_of(key) or "" for name, key in names.items()}
    source = metadata.get("tokenizer.chat_template")
    return PromptBuilder(tokenizer, ChatTemplate(source if isinstance(source, str) else None, spellings))
