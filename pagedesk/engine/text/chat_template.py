"""Renders the messages of a chat into the text that the model was trained on, with the model's own Jinja template.

Engine thread. Templates come from strangers: they run sandboxed, in a helper thread, for at most a second, and whatever
they do ends in text or in a `TemplateError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import jinja2

from pagedesk.engine.errors import TemplateError
from pagedesk.engine.text.template_sandbox import Allowance, TemplateRefusal, TemplateSandbox, strftime_at
from pagedesk.engine.text.time_limit import call_within

TIME_LIMIT_S = 1.0
CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The most common form, for models that bring no template."""

_BASE_ALLOWANCE = 4_000_000
_ALLOWANCE_PER_CHARACTER = 64
_ADVICE = "Turn the chat template off (raw mode), or choose another build of this model."


class RefusedError(TemplateError):
    """The template itself refuses these messages, for instance a system prompt."""


class ChatTemplate:
    """One model's template.

    Args:
        source: Jinja source; None for ChatML.
        special_tokens: Spellings by the names that templates use: "bos_token", "eos_token", ...
        time_limit_s: How long a rendering may take.
    """

    def __init__(
        self, source: str | None, special_tokens: Mapping[str, str], *, time_limit_s: float = TIME_LIMIT_S
    ) -> None:
        self.source = CHATML if source is None else source
        self._special_tokens = dict(special_tokens)
        self._time_limit_s = time_limit_s
        self._template: jinja2.Template | None = None

    def render(self, messages: Sequence[Mapping[str, str]], now: datetime) -> str:
        """The text of these messages, up to where the reply begins.

        Args:
            messages: "role" and "content" of each.
            now: The moment that the template takes for the present.

        Raises:
            RefusedError: The template called `raise_exception`.
            TemplateError: It is broken, never ends, or builds too much.
        """
        size = len(self.source) + sum(len(message["content"]) for message in messages)
        allowance = Allowance(_BASE_ALLOWANCE + _ALLOWANCE_PER_CHARACTER * size)
        try:
            return call_within(self._time_limit_s, lambda: self._render(messages, now, allowance))
        except TemplateRefusal as refusal:
            cause = f"The model's chat template refuses this chat: {_sentence(str(refusal))}"
            raise RefusedError(cause, "Change the chat, for instance leave the system prompt empty.") from refusal
        except TimeoutError as error:
            cause = f"The model's chat template had not ended after {self._time_limit_s:g} s."
            raise TemplateError(cause, _ADVICE) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise TemplateError(f"The model's chat template failed: {_sentence(what)}", _ADVICE) from error

    def _render(self, messages: Sequence[Mapping[str, str]], now: datetime, allowance: Allowance) -> str:
        template = self._compile(allowance)
        return template.render(
            messages=[dict(message) for message in messages],
            add_generation_prompt=True,
            tools=None,
            documents=None,
            strftime_now=strftime_at(now),
            **self._special_tokens,
        )

    def _compile(self, allowance: Allowance) -> jinja2.Template:
        if self._template is None:
            sandbox = TemplateSandbox()
            sandbox.allowance = allowance
            self._template = sandbox.from_string(self.source)
        assert isinstance(self._template.environment, TemplateSandbox)
        self._template.environment.allowance = allowance
        return self._template


def _sentence(text: str) -> str:
    """One line that ends with a full stop."""
    line = " ".join(text.split())[:300]
    return line if line.endswith((".", "!", "?")) else f"{line}."
