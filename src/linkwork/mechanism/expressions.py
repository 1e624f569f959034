"""Functions of numbers as data: a Python function, traced once, as its list of operations.

An expression is compared, hashed, pickled and written by its operations, never by the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from linkwork.errors import InputError
from linkwork.ops.dual import Duals
from linkwork.ops.graph import ZERO, Expressions, GraphOps
from linkwork.ops.protocol import Block, Ops

Node: TypeAlias = tuple[str, tuple[float, ...]]
"""An operation and its arguments: places of earlier nodes, or one number for an input or a
constant."""

_OPERATIONS: dict[str, tuple[str, int, Callable[..., Block]]] = {
    "negative": ("NEG", 1, lambda o, x: -x),
    "add": ("ADD", 2, lambda o, a, b: a + b),
    "subtract": ("SUB", 2, lambda o, a, b: a - b),
    "multiply": ("MUL", 2, lambda o, a, b: a * b),
    "divide": ("DIV", 2, lambda o, a, b: a / b),
    "sin": ("SIN", 1, lambda o, x: o.sin(x)),
    "cos": ("COS", 1, lambda o, x: o.cos(x)),
    "sqrt": ("SQRT", 1, lambda o, x: o.sqrt(x)),
    "arctan2": ("ATAN2", 2, lambda o, y, x: o.atan2(y, x)),
}
"""Every operation: its name in a graph, how many arguments it has, and its meaning."""

ARITY = {"input": 0, "constant": 0, **{name: n for name, (_, n, _) in _OPERATIONS.items()}}
"""Every operation and how many arguments it has; the numbers of the first two are their own."""

_NAMES = {operation: name for name, (operation, _, _) in _OPERATIONS.items()}
_MOST_NODES = 10_000


@dataclass(frozen=True)
class Expression:
    """A function of ``n_inputs`` numbers; the last node is its value."""

    n_inputs: int
    nodes: tuple[Node, ...]

    def value(self, o: Ops, inputs: Sequence[Block]) -> Block:
        """The value at ``inputs``, scalars of one back end."""
        values: list[Block] = []
        for operation, arguments in self.nodes:
            if operation == "constant":
                values.append(o.const(arguments[0]))
            elif operation == "input":
                values.append(inputs[int(arguments[0])])
            else:
                meaning = _OPERATIONS[operation][2]
                values.append(meaning(o, *(values[int(k)] for k in arguments)))
        return values[-1]

    def value_and_slopes(self, o: Ops, inputs: Sequence[Block]) -> tuple[Block, list[Block]]:
        """The value and its derivatives by each input."""
        duals = Duals(o)
        found = self.value(duals, [duals.block(x, {k: o.const(1.0)}) for k, x in enumerate(inputs)])
        return found.value, [duals.change(found, k) for k in range(self.n_inputs)]

    @property
    def is_affine(self) -> bool:
        """Whether the slopes are constants, as the operations show."""
        o = GraphOps()
        _, slopes = self.value_and_slopes(o, _inputs(o, self.n_inputs))
        return all(o.graph.values[k] is not None for slope in slopes for k in slope.numbers)

    def with_input(self, index: int, value: float) -> Expression:
        """The function of the other inputs, this one being a constant."""
        o = GraphOps()
        others = _inputs(o, self.n_inputs - 1)
        given = [*others[:index], o.const(float(value)), *others[index:]]
        return _read(self.n_inputs - 1, self.value(o, given))


def affine(rates: Sequence[float], offset: float = 0.0) -> Expression:
    """The sum of ``rates`` times the inputs, plus ``offset``.

    Raises: InputError for numbers that are not finite.
    """
    numbers = [*map(float, rates), float(offset)]
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"rates and offset must be finite numbers, not {numbers}")
    o = GraphOps()
    terms = [rate * x for rate, x in zip(numbers, _inputs(o, len(rates)), strict=False)]
    return _read(len(rates), sum(terms, o.const(offset)))


def traced(function: Callable[..., Any], n_inputs: int) -> Expression:
    """The expression of a Python function of numbers.

    Raises: InputError where it gives no number, cannot be called with numbers, or branches on them;
    UnsupportedFeatureError, from within it, for a function of NumPy's that cannot be traced.
    """
    o = GraphOps()
    try:
        result: Any = function(*_inputs(o, n_inputs))
    except TypeError as error:
        raise InputError(
            f"a coupling's function works on numbers, one for each leader ({n_inputs}): {error}"
        ) from error
    if isinstance(result, np.ndarray) and result.shape in ((), (1,)):
        result = cast("Any", result).reshape(-1)[0]
    one = isinstance(result, Expressions) and len(result.numbers) == 1
    plain = isinstance(result, (int, float, np.integer, np.floating))
    if isinstance(result, bool) or not (one or plain):
        raise InputError(f"a coupling's function must give one number, not {result!r:.60}")
    return _read(n_inputs, o.const(result))


def checked(n_inputs: int, nodes: Sequence[Node]) -> Expression:
    """An expression from outside.

    Raises: InputError saying which node is none.
    """
    if not nodes or len(nodes) > _MOST_NODES:
        raise InputError(f"an expression has from 1 to {_MOST_NODES} nodes, not {len(nodes)}")
    for place, (operation, arguments) in enumerate(nodes):
        if operation not in ARITY:
            raise InputError(f"node {place}: there is no operation {operation!r:.40}")
        count = ARITY[operation] or 1
        fine = len(arguments) == count and all(map(math.isfinite, arguments))
        if fine and operation != "constant":
            below = n_inputs if operation == "input" else place
            fine = all(a == int(a) and 0 <= a < below for a in arguments)
        if fine and operation == "divide":
            fine = nodes[int(arguments[1])] != ("constant", (0.0,))
        if not fine:
            raise InputError(f"node {place}: {operation} cannot have the arguments {arguments}")
    return Expression(n_inputs, tuple((name, tuple(arguments)) for name, arguments in nodes))


def _inputs(o: GraphOps, n_inputs: int) -> list[Expressions]:
    vector = o.input(0, n_inputs)
    return [vector[k] for k in range(n_inputs)]


def _read(n_inputs: int, result: Expressions) -> Expression:
    """The nodes of a number of a graph.

    Raises: InputError for constants that are not finite, divisions by zero and too many nodes.
    """
    graph = result.graph
    order = graph.needed([result.numbers]) or [ZERO]
    if len(order) > _MOST_NODES:
        raise InputError(f"a coupling's function takes more than {_MOST_NODES} operations")
    place = {k: float(at) for at, k in enumerate(order)}
    nodes: list[Node] = []
    for k in order:
        operation, arguments, value = graph.operations[k], graph.arguments[k], graph.values[k]
        if operation == "DIV" and arguments[1] == ZERO:
            raise InputError("a coupling's function divides by zero")
        if value is not None and not math.isfinite(value):
            raise InputError(f"a coupling's function has the constant {value}")
        if operation == "INPUT":
            nodes.append(("input", (float(arguments[1]),)))
        elif value is not None:
            nodes.append(("constant", (value,)))
        else:
            nodes.append((_NAMES[operation], tuple([place[a] for a in arguments])))
    return Expression(n_inputs, tuple(nodes))
