"""Which templates are rendered here, and which in a process of their own."""

from __future__ import annotations

import pytest

from pagedesk.engine.text.chat_template import CHATML
from pagedesk.engine.text.plain_templates import is_plain
from tests.helpers.tiny_gguf import CHATML as TINY_CHATML

MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] | trim + ' [/INST]' }}"
    "{% else %}{{ m['content'] ~ eos_token }}{% endif %}{% endfor %}"
)


@pytest.mark.parametrize("source", [CHATML, TINY_CHATML, MISTRAL, "{% set x = messages[1:] %}{{ x[0].content }}"])
def test_a_template_that_joins_text_is_plain(source: str) -> None:
    assert is_plain(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ [1] }}",
        "{{ (1, 2) }}",
        "{{ {} }}",
        "{% set ns = namespace() %}",
        "{{ 'x' * 9 }}",
        "{{ 2 ** 9 }}",
        "{{ '%s' % 1 }}",
        "{{ loop.index0 % messages }}",
        "{{ messages[0].content % 2 }}",
        "{{ 'x'.center(9) }}",
        "{{ strftime_now('%Y') }}",
        "{{ 'x' | tojson }}",
        "{{ messages | map('trim', 1) }}",
        "{% for m in messages recursive %}{{ m }}{% endfor %}",
        "{% macro f() %}{% endmacro %}",
        "{% if %}",
        "{{ " + "(" * 4000 + " }}",
        "x" * 10_000,
    ],
)
def test_a_template_that_does_more_or_is_broken_is_not(source: str) -> None:
    assert not is_plain(source)
