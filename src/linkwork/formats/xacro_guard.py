"""The expressions of a xacro file, evaluated so that they reach values and nothing else.

A xacro file holds Python expressions. Names that begin with two underscores are not the only way
out of ``eval``: a generator's frame, ``type``, ``vars`` or ``'{0.x}'.format`` lead to modules too.
So an expression is parsed, only the parts of the language listed here are let through, and every
attribute is looked up by `attribute`, which knows the values of xacro and their methods.

This module runs in the process that expands the file (`xacro_child`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

LONGEST = 100_000
"""The longest expression, in characters."""

_LARGEST_INTEGER = 1 << 16  # bits
_LARGEST_SEQUENCE = 1 << 24  # items

# Names of the helpers in the code that runs. No expression can spell them: they hold a space.
_GET, _POWER, _TIMES, _SHIFT = "get attribute", "power of", "times that", "shift left"

_CHECKED: dict[type[ast.operator], str] = {
    ast.Pow: _POWER,
    ast.Mult: _TIMES,
    ast.LShift: _SHIFT,
}

_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Subscript, ast.Slice),
    *(ast.Call, ast.keyword, ast.Starred, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.List, ast.Tuple, ast.Dict),
    *(ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.Store, ast.Lambda, ast.arguments, ast.arg, ast.JoinedStr, ast.FormattedValue),
)
"""The parts of Python that an expression has; `ast.Store` is the variable of a comprehension."""


def _public(kind: type, *, without: Sequence[str] = ()) -> frozenset[str]:
    return frozenset(n for n in dir(kind) if not n.startswith("_") and n not in without)


_METHODS: dict[type, frozenset[str]] = {
    # a field of format() may name attributes; an expression of xacro cannot write one anyhow
    str: _public(str, without=("format", "format_map")),
    **{
        kind: _public(kind)
        for kind in (bytes, int, float, complex, bool, list, tuple, dict, set, frozenset)
    },
    **{kind: _public(kind) for kind in (range, slice, type(None))},
}


class RefusedError(Exception):
    """Something that the file must not do, with a code for the problem and a hint."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class RefusedExpressionError(Exception):
    """An expression that uses what no expression of a xacro file needs."""


# what an expression is turned into


class _Guarded(ast.NodeTransformer):
    """Refuses what is not listed; attributes and operations that can grow become calls."""

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, _ALLOWED):
            raise RefusedExpressionError(f"{type(node).__name__} has no place in an expression")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _named(node, node.id)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return _named(node, node.arg)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        _named(node, node.attr)
        name = ast.Constant(node.attr)
        return _call(_GET, node, self.visit(node.value), name)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = self.visit(node.left), self.visit(node.right)
        helper = _CHECKED.get(type(node.op))
        if helper is not None:
            return _call(helper, node, left, right)
        return ast.copy_location(ast.BinOp(left, node.op, right), node)


def _named(node: ast.AST, name: str) -> ast.AST:
    if name.startswith("__"):
        raise RefusedExpressionError(f"'{name}' begins with two underscores")
    return node


def _call(helper: str, node: ast.AST, *values: Any) -> ast.AST:
    call = ast.Call(ast.Name(helper, ast.Load()), list(values), [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def guarded(expression: str) -> CodeType:
    """The code of an expression, with every attribute looked up by `attribute`.

    Raises: RefusedExpressionError for what is not let through; SyntaxError as Python does.
    """
    if len(expression) > LONGEST:
        raise RefusedExpressionError(f"it is longer than {LONGEST:,} characters")
    tree = _Guarded().visit(ast.parse(expression.strip(), "<expression>", "eval"))
    return compile(ast.fix_missing_locations(tree), "<expression>", "eval")


def evaluate(expression: str, names: dict[str, Any], local: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression, with ``names`` (and ``local``) as all that it can name.

    Raises: RefusedExpressionError, SyntaxError, and whatever the evaluation raises.
    """
    code = guarded(expression)
    names.update(__builtins__=dict(_HELPERS))
    return eval(code, names, local)  # what the code can reach is what `guarded` let through


# what the code calls


def attribute(value: Any, name: str) -> Any:
    """The value of ``value.name``, for the values that xacro has: name spaces, YAML, plain data.

    Raises: RefusedExpressionError for everything else.
    """
    if name.startswith("__"):
        raise RefusedExpressionError(f"'{name}' begins with two underscores")
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    if isinstance(value, dict) and type(value) is not dict:  # a name space, or YAML's
        return _entry(value, name)
    if kind is not None and name in _METHODS[kind]:
        return getattr(value, name)
    if isinstance(value, type) and name in _METHODS.get(value, ()):
        return getattr(value, name)
    shown = value.__name__ if isinstance(value, type) else type(value).__name__
    raise RefusedExpressionError(f"'{name}' of a {shown} is not reached from an expression")


def _entry(table: dict[Any, Any], name: str) -> Any:
    """An entry of a name space, or of a YAML file's dictionary, which has methods too."""
    is_yaml = "parent" not in vars(table)
    if is_yaml and name in _METHODS[dict]:
        return getattr(table, name)
    try:
        return table[name]
    except (KeyError, AttributeError):
        raise NameError(f"name '{name}' is not defined") from None


def _times(left: Any, right: Any) -> Any:
    for sized, count in ((left, right), (right, left)):
        if isinstance(sized, str | bytes | list | tuple) and isinstance(count, int):
            if len(sized) * count > _LARGEST_SEQUENCE:
                raise RefusedExpressionError("the sequence that it makes is too long")
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() * right > _LARGEST_INTEGER:
            raise RefusedExpressionError("the power that it computes is too large")
    return left**right


def _shift(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right > _LARGEST_INTEGER:
            raise RefusedExpressionError("the number that it computes is too large")
    return left << right


_HELPERS: dict[str, Callable[..., Any]] = {
    _GET: attribute,
    _POWER: _power,
    _TIMES: _times,
    _SHIFT: _shift,
}


def kind_of(value: Any) -> type:
    """``type(value)`` with one value: the type of plain data.

    Raises: RefusedExpressionError for values of other types.
    """
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    if kind is None:
        raise RefusedExpressionError("only the type of plain data is told")
    return kind
