"""One template, compiled once and rendered in the sandbox, in whatever thread or process calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import jinja2

from pagedesk.engine.text.template_sandbox import Allowance, TemplateSandbox, strftime_at

_BASE_ALLOWANCE = 4_000_000
_ALLOWANCE_PER_CHARACTER = 64


class Renderer:
    """A template and the names that it finds.

    Args:
        source: Jinja source.
        special_tokens: Spellings by the names that templates use.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        self._source = source
        self._special_tokens = dict(special_tokens)
        self._sandbox = TemplateSandbox()
        self._template: jinja2.Template | None = None

    def render(self, messages: Sequence[Mapping[str, str]], now: datetime) -> str:
        """The text of these messages.

        Raises:
            TemplateRefusal: The template called `raise_exception`.
            Exception: Whatever else a template can fail with.
        """
        size = len(self._source) + sum(len(message["content"]) for message in messages)
        self._sandbox.allowance = Allowance(_BASE_ALLOWANCE + _ALLOWANCE_PER_CHARACTER * size)
        if self._template is None:
            self._template = self._sandbox.from_string(self._source)
        return self._template.render(
            messages=[dict(message) for message in messages],
            add_generation_prompt=True,
            tools=None,
            documents=None,
            strftime_now=strftime_at(now),
            **self._special_tokens,
        )
