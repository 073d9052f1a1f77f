"""Renders the messages of a chat into the text that the model was trained on, with the model's own Jinja template.

Engine thread. Templates come from strangers: they run sandboxed, for at most a second, in a helper thread if they are
plain and else in a process of their own; whatever they do ends in text or in a `TemplateError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from pagedesk.engine.errors import TemplateError
from pagedesk.engine.text.plain_templates import is_plain
from pagedesk.engine.text.renderer import Renderer
from pagedesk.engine.text.template_process import TemplateFailure, TemplateProcess
from pagedesk.engine.text.template_sandbox import TemplateRefusal
from pagedesk.engine.text.time_limit import call_within

TIME_LIMIT_S = 1.0
CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The most common form, for models that bring no template."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a pair, which no encoding can write."""

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
        self._render = self._choose()

    def render(self, messages: Sequence[Mapping[str, str]], now: datetime) -> str:
        """The text of these messages, up to where the reply begins.

        Args:
            messages: "role" and "content" of each.
            now: The moment that the template takes for the present.

        Raises:
            RefusedError: The template called `raise_exception`.
            TemplateError: It is broken, never ends, or builds too much.
        """
        try:
            return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", self._render(messages, now))
        except TemplateRefusal as refusal:
            cause = f"The model's chat template refuses this chat: {_sentence(str(refusal))}"
            raise RefusedError(cause, "Change the chat, for instance leave the system prompt empty.") from refusal
        except TimeoutError as error:
            cause = f"The model's chat template had not ended after {self._time_limit_s:g} s."
            raise TemplateError(cause, _ADVICE) from error
        except TemplateFailure as error:
            raise TemplateError(f"The model's chat template failed: {_sentence(str(error))}", _ADVICE) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise TemplateError(f"The model's chat template failed: {_sentence(what)}", _ADVICE) from error

    def _choose(self) -> Callable[[Sequence[Mapping[str, str]], datetime], str]:
        """Where this template is rendered."""
        if not is_plain(self.source):
            process = TemplateProcess(self.source, self._special_tokens, self._time_limit_s)
            with suppress(OSError):
                process.start()  # the first chat then need not wait for it
            return process.render
        renderer = Renderer(self.source, self._special_tokens)
        return lambda messages, now: call_within(self._time_limit_s, lambda: renderer.render(messages, now))


def _sentence(text: str) -> str:
    """One line that ends with a full stop."""
    line = " ".join(text.split())[:300]
    return line if line.endswith((".", "!", "?")) else f"{line}."
