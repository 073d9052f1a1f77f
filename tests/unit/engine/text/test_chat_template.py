"""Templates of strangers: what they expect is there, what they must not do ends in a sentence."""

from __future__ import annotations

import sys
import threading
from datetime import datetime, timedelta, timezone

import pytest

from pagedesk.engine.errors import TemplateError
from pagedesk.engine.text.chat_template import ChatTemplate, RefusedError

NOW = datetime(2026, 11, 29, 12, 0)


def render(source: str | None, *turns: tuple[str, str], **special: str) -> str:
    messages = [{"role": role, "content": content} for role, content in turns or [("user", "hi")]]
    return ChatTemplate(source, special).render(messages, NOW)


def test_without_a_template_it_is_chatml() -> None:
    assert render(None) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


def test_blocks_leave_no_blank_lines() -> None:
    assert (
        render("  {% for m in messages %}\n{{ m.content }}\n  {% endfor %}\n", ("user", "a"), ("user", "b")) == "a\nb\n"
    )


def test_special_tokens_have_names() -> None:
    assert render("{{ bos_token }}!", bos_token="<s>") == "<s>!"


def test_loops_can_be_left() -> None:
    assert render("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}") == "01"


def test_json_is_not_escaped_for_html() -> None:
    assert render("{{ {'a': '<é>'} | tojson }}") == '{"a": "<é>"}'


def test_json_may_be_indented() -> None:
    assert render("{{ {'a': [1]} | tojson(indent=2) }}") == '{\n  "a": [\n    1\n  ]\n}'


def test_braces_and_percent_signs_may_be_written_out() -> None:
    assert render("{{ '{{%}}{:>3}' .format(7) }}{{ '%3d%%' % 7 }}") == "{%}  7  7%"


def test_the_date_is_the_one_of_the_chat() -> None:
    assert render("{{ strftime_now('%d %b %Y') }}") == "29 Nov 2026"


def test_a_generation_block_is_its_content() -> None:
    assert render("{% generation %}x{% endgeneration %}") == "x"


def test_a_refusal_carries_the_words_of_the_template() -> None:
    with pytest.raises(RefusedError, match=r"refuses this chat: System role not supported\."):
        render("{{ raise_exception('System role not supported') }}")


@pytest.mark.parametrize(
    "source",
    [
        "{% if %}",
        "{{ 1 / 0 }}",
        "{{ messages.nothing.more }}",
        "{{ messages.append(1) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% include 'x' %}",
        "{{ ''.__class__.__mro__ }}",
    ],
)
def test_a_template_that_fails_is_a_sentence(source: str) -> None:
    with pytest.raises(TemplateError, match=r"chat template failed: .*\.") as caught:
        render(source)
    assert caught.value.advice


@pytest.mark.parametrize(
    "expression",
    [
        "'x' * 10**9",
        "10**9 * 'x'",
        "[0] * 10**9",
        "10 ** 99999",
        "'x'.center(10**9)",
        "'x' | center(10**9)",
        "'x' | indent(10**9, true)",
        "'%1000000000d' % 1",
        "'{:1000000000}'.format(1)",
        "'{:{w}}'.format(1, w=10**9)",
        "'%*d' % (10**8, 1)",
        "'%(a)-.*f' % {'a': 1.0}",
        "'{0:{1[0]}}'.format(1, [10**8])",
        "'{a:{w}}'.format_map({'a': 1, 'w': 10**8})",
        "'x'.encode().center(10**8)",
        "(5).to_bytes(10**8, 'big')",
        "range(9000) | list | tojson(indent=9999)",
        "[0] | tojson(indent='x' * 9000)",
        "range(9000) | list | tojson(separators=('x' * 9999, ':'))",
        "'\t'.expandtabs(10**9)",
        "strftime_now('%1000000000d')",
    ],
)
def test_a_value_that_is_too_large_is_stopped_before_it_is_made(expression: str) -> None:
    """It is made and thrown away: the text of the prompt, which is measured too, stays short."""
    with pytest.raises(TemplateError, match="chat template failed: SecurityError"):
        render(f"{{% set made = {expression} %}}")


@pytest.mark.parametrize(
    "source",
    [
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x | replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x.join([ns.x, ns.x]) %}{% endfor %}",
        "{% set d = [{'a': 'x' * 90000}] * 90000 %}{{ d | map(attribute='a') | join }}",
    ],
)
def test_text_that_grows_without_measure_is_stopped(source: str) -> None:
    with pytest.raises(TemplateError, match="chat template failed: SecurityError"):
        render(source)


@pytest.mark.parametrize("use", ["{{ ns.x }}", "{{ ns.x | tojson }}", "{{ ns.x | string }}", "{{ '' ~ ns.x }}"])
def test_lists_in_lists_are_not_written_out_without_end(use: str) -> None:
    nest = "{% set ns = namespace(x=[]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
    with pytest.raises(TemplateError, match=r"SecurityError|had not ended"):
        render(nest + use)


ENDLESS = "{% for a in messages %}" * 5 + "{% endfor %}" * 5
ENDLESS_ELSEWHERE = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize("source", [ENDLESS, ENDLESS_ELSEWHERE])
def test_a_template_that_never_ends_is_a_sentence_and_its_thread_dies(source: str) -> None:
    template = ChatTemplate(source, {}, time_limit_s=0.05)
    with pytest.raises(TemplateError, match=r"had not ended after 0\.05 s\."):
        template.render([{"role": "user", "content": "hi"}] * 400, NOW)
    helpers = [thread for thread in threading.enumerate() if thread.name in ("time-limited call", "template")]
    for thread in helpers:
        thread.join(20)
    assert not any(thread.is_alive() for thread in helpers)


NEST = (
    "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(40) %}{% set ns.a=[ns.a,ns.a] %}{% set ns.b=[ns.b,ns.b] %}"
)


@pytest.mark.parametrize(
    "source",
    [
        f"{NEST}{{% endfor %}}{{{{ ns.a == ns.b }}}}",
        f"{NEST}{{% endfor %}}{{{{ [ns.a, ns.b] | sort | length }}}}",
        "{% set ns = namespace(a=(1,)) %}{% for i in range(40) %}{% set ns.a=(ns.a,ns.a) %}{% endfor %}{{ {ns.a: 1} }}",
        "{{ ('%(' * 200000) % {'a': 1} }}",
    ],
    ids=["equal", "sort", "hash", "pattern"],
)
def test_a_step_that_holds_python_for_hours_stops_nobody_else(source: str) -> None:
    template = ChatTemplate("{% if messages[0].content == 'hard' %}" + source + "{% else %}easy{% endif %}", {})
    assert template.render([{"role": "user", "content": "easy"}], NOW) == "easy"

    with pytest.raises(TemplateError, match=r"had not ended after 1 s\."):
        template.render([{"role": "user", "content": "hard"}], NOW)

    assert template.render([{"role": "user", "content": "easy"}], NOW) == "easy"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_template_that_swells_is_stopped() -> None:
    with pytest.raises(TemplateError, match=r"MemoryError|had not ended"):
        render("{{ strftime_now('%9999Y' * 200000) | length }}")


@pytest.mark.parametrize("where", ["plain", "{{ [] }}"])
def test_half_a_surrogate_pair_becomes_a_replacement(where: str) -> None:
    assert render("\ud800" + where).startswith("\N{REPLACEMENT CHARACTER}")


def test_a_date_keeps_the_name_of_its_zone() -> None:
    zone = timezone(timedelta(hours=9), "JST")
    template = ChatTemplate("{{ strftime_now('%H:%M %Z %z') }}", {})
    assert template.render([{"role": "user", "content": "hi"}], NOW.replace(tzinfo=zone)) == "12:00 JST +0900"


def test_a_long_chat_is_within_the_allowance() -> None:
    turns = [("user" if i % 2 == 0 else "assistant", "word " * 200) for i in range(400)]
    source = "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] | trim + '\n' }}{% endfor %}"
    assert len(render(source, *turns)) > 400 * 999
