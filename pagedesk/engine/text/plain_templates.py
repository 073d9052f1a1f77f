"""Tells templates that can be rendered here from those that need a process of their own.

A plain template loops over the messages and joins text; it can name nothing that works longer than in proportion to the
text that it is given, so the sandbox's allowance bounds every single step. Most templates without tools are plain.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError

from pagedesk.engine.text.template_sandbox import TemplateSandbox

_MAX_SOURCE = 8192
_HARMLESS = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Const, nodes.Name, nodes.Getattr, nodes.Getitem),
    *(nodes.Slice, nodes.For, nodes.If, nodes.CondExpr, nodes.Assign, nodes.Compare, nodes.Operand, nodes.And),
    *(nodes.Or, nodes.Not, nodes.Concat, nodes.Add, nodes.Sub),
)
_FILTERS = frozenset({"trim", "length", "upper", "lower"})
_TESTS = frozenset({"defined", "undefined", "none", "string"})
_COUNTERS = frozenset({"index", "index0", "revindex", "revindex0", "length"})


def is_plain(source: str) -> bool:
    """Whether no step of this template can take long or build much."""
    if len(source) > _MAX_SOURCE:
        return False
    try:
        return _is_harmless(TemplateSandbox().parse(source))
    except (TemplateSyntaxError, RecursionError):
        return False


def _is_harmless(node: nodes.Node) -> bool:
    return _is_known(node) and all(map(_is_harmless, node.iter_child_nodes()))


def _is_known(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        return node.name in _FILTERS and not (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Name) and node.node.name == "raise_exception"
    if isinstance(node, nodes.Mod):
        return _is_counter(node.left) and isinstance(node.right, nodes.Const)  # of a text it would be a format
    is_recursive = isinstance(node, nodes.For) and node.recursive
    return (type(node) in _HARMLESS and not is_recursive) or (isinstance(node, nodes.Test) and node.name in _TESTS)


def _is_counter(node: nodes.Expr) -> bool:
    is_of_loop = isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop"
    return is_of_loop and isinstance(node, nodes.Getattr) and node.attr in _COUNTERS
