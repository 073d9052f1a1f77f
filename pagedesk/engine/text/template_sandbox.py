"""A Jinja environment for templates of strangers: no access to Python, no use of memory without measure.

The helper thread that renders. The sandbox of Jinja keeps a template away from objects; what it lacks is a limit on the
size of what expressions build, and that is added here: everything that can make large values pays for them from an
allowance before they are made.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from typing_extensions import override

_MAX_NUMBER = 100_000
_MAX_BITS = 4096
_LONG_NUMBER = re.compile(r"\d{5,}")
_MAX_INDENT = 16
_WIDTH_FROM_VALUE = re.compile(r"%(\([^)]*\))?[-+ #0-9.]*\*|\{[^{}]+\{")
_BARRED_METHODS = frozenset({"encode", "expandtabs", "to_bytes", "translate"})
_REPEATING = frozenset({"format", "format_map", "join", "wordwrap", "indent"})
_LIST_FILTERS = frozenset(
    (
        *("attr", "batch", "count", "d", "default", "dictsort", "first", "groupby", "items", "last", "length", "list"),
        *("map", "max", "min", "random", "reject", "rejectattr", "reverse", "select", "selectattr", "slice", "sort"),
        *("sum", "unique"),
    )
)


class TemplateRefusal(Exception):  # noqa: N818 - the template says no; it is not an error of ours
    """The template called `raise_exception`."""


class Allowance:
    """Characters and items that one rendering may still build."""

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int) -> None:
        """Pay for a value of this size.

        Raises:
            SecurityError: The allowance is used up.
        """
        self._left -= size
        if self._left < 0:
            raise SecurityError("it builds too much text")

    def spend_on(self, value: object) -> int:
        """Pay for a value as text, with all that is inside it; gives its size."""
        total, pending = 0, [value]
        while pending:
            inner = pending.pop()
            size = _own_size(inner)
            self.spend(size)
            total += size
            if isinstance(inner, Mapping):
                pending.extend(inner.keys())
                pending.extend(inner.values())
            elif isinstance(inner, list | tuple | set | frozenset):
                pending.extend(inner)
        return total


class _BoundedCode(CodeGenerator):
    """Compiles `a ~ b` to a call of the environment, which the stock compiler does not."""

    @override
    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.join_values((")
        for value in node.nodes:
            self.visit(value, frame)
            self.write(", ")
        self.write("))")


class _GenerationBlock(Extension):
    """`{% generation %}`: marks replies for training; here it is only its content."""

    tags = {"generation"}  # noqa: RUF012 - declared so by Jinja

    @override
    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """The environment that chat templates expect, bounded.

    Attributes:
        allowance: What the rendering under way may still build; set a new one for each.
    """

    code_generator_class = _BoundedCode
    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _GenerationBlock])
        self.allowance = Allowance(0)
        self.filters["tojson"] = self._to_json
        self.filters = {name: self._bounded(name, function) for name, function in self.filters.items()}
        del self.globals["lipsum"]
        self.globals["raise_exception"] = _raise_exception
        self.finalize = self._finalize

    def join_values(self, values: tuple[object, ...]) -> str:
        """What `~` does."""
        for value in values:
            self.allowance.spend_on(value)
        return "".join(map(str, values))

    @override
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _BARRED_METHODS and super().is_safe_attribute(obj, attr, value)

    @override
    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        method = getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str):
            self._pay(getattr(method, "__name__", ""), [owner, *args, *kwargs.values()])
        return super().call(context, obj, *args, **kwargs)

    @override
    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            self._pay("format", [left, right])
        elif operator == "+":
            self.allowance.spend(_own_size(left) + _own_size(right))
        elif operator != "%":
            self.allowance.spend(_product_size(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def _finalize(self, value: object) -> object:
        self.allowance.spend_on(value)
        return value

    @override
    def concat(self, parts: Iterable[str]) -> str:
        pieces = list(parts)
        self.allowance.spend(sum(map(len, pieces)))
        return "".join(pieces)

    def _bounded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        num_passed = int(hasattr(function, "jinja_pass_arg"))

        @functools.wraps(function)
        def pay_and_call(*args: object, **kwargs: object) -> object:
            values = [list(v) if isinstance(v, Iterator) else v for v in args[num_passed:]]
            self._pay(name, [*values, *kwargs.values()])
            return function(*args[:num_passed], *values, **kwargs)

        return pay_and_call

    def _pay(self, name: str, values: list[object]) -> None:
        """Pay for the most that a filter or a method of strings can make of its values, the subject first."""
        numbers = [value for value in values[1:] if isinstance(value, int)]
        if any(number > _MAX_NUMBER for number in numbers):
            raise SecurityError(f"{name!r} with a number over {_MAX_NUMBER:,}")
        measure = self._pay_for_items if name in _LIST_FILTERS else self.allowance.spend_on
        subject, *others = [measure(value) for value in values]
        self.allowance.spend(sum(max(number, 0) for number in numbers))
        if name in _REPEATING:
            self._refuse_wide_format(name, values[0])
            self.allowance.spend(subject * max([*others, *numbers], default=0))
        elif name == "replace":
            self.allowance.spend(_replacement_size(values))

    def _pay_for_items(self, value: object) -> int:
        size = _own_size(value)
        self.allowance.spend(size)
        return size

    def _refuse_wide_format(self, name: str, subject: object) -> None:
        if not name.startswith("format") or not isinstance(subject, str):
            return
        if _LONG_NUMBER.search(subject):
            raise SecurityError(f"{name!r} with a width over {_MAX_NUMBER:,}")
        if _WIDTH_FROM_VALUE.search(subject):
            raise SecurityError(f"{name!r} with a width that a value gives")

    def _to_json(
        self,
        value: object,
        indent: object = None,
        separators: tuple[str, str] | None = None,
        *,
        ensure_ascii: bool = False,
        sort_keys: bool = False,
    ) -> str:
        """Plain JSON, as templates expect it, without Jinja's escapes for HTML; paid for piece by piece."""
        if indent is not None and (not isinstance(indent, int) or indent > _MAX_INDENT):
            raise SecurityError(f"'tojson' with an indent over {_MAX_INDENT}")
        encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
        pieces: list[str] = []
        for piece in encoder.iterencode(value):
            self.allowance.spend(len(piece))
            pieces.append(piece)
        return "".join(pieces)


def strftime_at(now: datetime) -> Callable[[str], str]:
    """The `strftime_now` of templates, for a fixed moment."""

    def strftime_now(pattern: str) -> str:
        if _LONG_NUMBER.search(pattern):
            raise SecurityError("a date that is too wide")
        return now.strftime(pattern)

    return strftime_now


def _own_size(value: object) -> int:
    return len(value) + 1 if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) else 1


def _product_size(operator: str, left: object, right: object) -> int:
    """Size of `left * right` or `left ** right`; numbers count by their bits."""
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        if bits > _MAX_BITS:
            raise SecurityError("a number that is too large")
        return 1
    count, value = (left, right) if isinstance(left, int) else (right, left)
    return _own_size(value) * max(count, 0) if isinstance(count, int) else 1


def _replacement_size(values: list[object]) -> int:
    if len(values) < 3:
        return 0
    text, old, new = map(str, values[:3])
    return text.count(old) * len(new)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateRefusal(message)
