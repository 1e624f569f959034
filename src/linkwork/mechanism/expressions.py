"""A function of numbers as data: what tracing a Python function with numbers that write down gives.

The operations are those that every back end has; the others of `NAMES` are made of them. An
expression is compared, hashed, pickled and written by its operations, never by the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.ops.protocol import Block, Ops

Node: TypeAlias = tuple[str, tuple[float, ...]]
"""An operation and its arguments: places of earlier nodes, or one number for an input or a
constant."""

ARITY = {
    "input": 0, "constant": 0, "negative": 1, "add": 2, "subtract": 2, "multiply": 2, "divide": 2,
    "sin": 1, "cos": 1, "sqrt": 1, "arctan2": 2,
}  # fmt: skip
"""Every operation and how many arguments it has; the numbers of the first two are their own."""

_MOST_NODES = 10_000
_MOST_POWER = 64


@dataclass(frozen=True)
class Expression:
    """A function of ``n_inputs`` numbers; the last node is its value."""

    n_inputs: int
    nodes: tuple[Node, ...]

    def value(self, o: Ops, inputs: Sequence[Block]) -> Block:
        """The value at ``inputs``, scalars of one back end."""
        return self.value_and_slopes(o, inputs)[0]

    def value_and_slopes(self, o: Ops, inputs: Sequence[Block]) -> tuple[Block, list[Block]]:
        """The value and its derivatives by each input.

        Source: forward accumulation (Griewank and Walther, Evaluating Derivatives, 2nd ed., 3.1).
        """
        values: list[Block] = []
        slopes: list[list[Block]] = []
        for operation, arguments in self.nodes:
            if operation == "constant":
                values.append(o.const(arguments[0]))
                slopes.append([o.const(0.0)] * self.n_inputs)
                continue
            if operation == "input":
                own = int(arguments[0])
                values.append(inputs[own])
                slopes.append([o.const(float(k == own)) for k in range(self.n_inputs)])
                continue
            places = [int(a) for a in arguments]
            value, factors = _RULES[operation](o, *(values[k] for k in places))
            values.append(value)
            own_slopes: list[Block] = []
            for k in range(self.n_inputs):
                terms = [f * slopes[p][k] for f, p in zip(factors, places, strict=True)]
                own_slopes.append(sum(terms[1:], terms[0]))
            slopes.append(own_slopes)
        return values[-1], slopes[-1]

    @property
    def is_affine(self) -> bool:
        """Whether the slopes are constants, as the operations show."""
        degrees: list[int] = []  # 2 for all that is not affine
        for operation, arguments in self.nodes:
            if operation in ("input", "constant"):
                degrees.append(int(operation == "input"))
                continue
            own = [degrees[int(k)] for k in arguments]
            if operation in ("add", "subtract", "negative"):
                degrees.append(max(own))
            elif operation == "multiply":
                degrees.append(min(2, sum(own)))
            else:
                divides = operation == "divide" and own[1] == 0
                degrees.append(own[0] if divides else 2 * int(max(own) > 0))
        return degrees[-1] < 2

    def with_input(self, index: int, value: float) -> Expression:
        """The function of the other inputs, this one being a constant."""
        nodes: list[Node] = []
        for operation, arguments in self.nodes:
            if operation != "input":
                nodes.append((operation, arguments))
            elif arguments[0] == index:
                nodes.append(("constant", (float(value),)))
            else:
                nodes.append(("input", (float(arguments[0] - (arguments[0] > index)),)))
        return Expression(self.n_inputs - 1, tuple(nodes))


def affine(rates: Sequence[float], offset: float = 0.0) -> Expression:
    """The sum of ``rates`` times the inputs, plus ``offset``.

    Raises: InputError for numbers that are not finite.
    """
    numbers = [*map(float, rates), float(offset)]
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"rates and offset must be finite numbers, not {numbers}")

    def function(*x: Any) -> Any:
        terms = [rate * each for rate, each in zip(numbers, x, strict=False)]
        return sum(terms, 0.0) + numbers[-1] if numbers[-1] else sum(terms[1:], terms[0])

    return traced(function, len(numbers) - 1)


def traced(function: Callable[..., Any], n_inputs: int) -> Expression:
    """The expression of a Python function of numbers.

    Raises: InputError where it gives no number, or branches on its arguments;
    UnsupportedFeatureError, from within it, for a function of NumPy's that no back end has.
    """
    tape = _Tape()
    inputs = [Number(tape, tape.add("input", float(k))) for k in range(n_inputs)]
    result: Any = function(*inputs)
    number = tape.number(result)
    if number is None:
        raise InputError(f"a coupling's function must give one number, not {result!r:.60}")
    return Expression(n_inputs, _needed(tape.nodes, number.place))


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


class _Tape:
    """What has been computed so far."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def add(self, operation: str, *arguments: float) -> int:
        node = (operation, tuple(float(a) for a in arguments))
        if node not in self._known:
            if len(self.nodes) >= _MOST_NODES:
                raise InputError(f"a coupling's function takes more than {_MOST_NODES} operations")
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def number(self, value: Any) -> Number | None:
        """A number of this tape, or a plain one made a constant; None for anything else."""
        if isinstance(value, np.ndarray) and value.shape in ((), (1,)):
            value = cast("Any", value).reshape(-1)[0]
        if isinstance(value, Number):
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            return None
        if not math.isfinite(value):
            raise InputError(f"a coupling's function has the constant {value}")
        return Number(self, self.add("constant", float(value)))


class Number:
    """Stands for a number while a function is traced."""

    def __init__(self, tape: _Tape, place: int) -> None:
        self.tape, self.place = tape, place

    @property
    def node(self) -> Node:
        """The operation that made it."""
        return self.tape.nodes[self.place]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        make = NAMES.get(ufunc.__name__)
        if make is None or method != "__call__" or options:
            known = ", ".join(sorted(NAMES))
            raise UnsupportedFeatureError(
                f"a coupling's function may use {known}, not numpy.{ufunc.__name__}"
            )
        numbers = [self.tape.number(value) for value in inputs]
        if any(number is None for number in numbers):
            raise InputError("a coupling's function works on numbers, not on arrays")
        return make(*numbers)

    def __add__(self, other: Any) -> Number:
        return _made("add", self, other)

    def __radd__(self, other: Any) -> Number:
        return _made("add", self, other)

    def __sub__(self, other: Any) -> Number:
        return _made("subtract", self, other)

    def __rsub__(self, other: Any) -> Number:
        return _made("subtract", self.tape.number(other), self)

    def __mul__(self, other: Any) -> Number:
        return _made("multiply", self, other)

    def __rmul__(self, other: Any) -> Number:
        return _made("multiply", self, other)

    def __truediv__(self, other: Any) -> Number:
        return _made("divide", self, other)

    def __rtruediv__(self, other: Any) -> Number:
        return _made("divide", self.tape.number(other), self)

    def __neg__(self) -> Number:
        return _made("negative", self)

    def __pos__(self) -> Number:
        return self

    def __pow__(self, other: Any) -> Number:
        return _power(self, other)

    def __lt__(self, other: object) -> bool:
        raise _branches("<")

    def __le__(self, other: object) -> bool:
        raise _branches("<=")

    def __gt__(self, other: object) -> bool:
        raise _branches(">")

    def __ge__(self, other: object) -> bool:
        raise _branches(">=")

    def __eq__(self, other: object) -> bool:
        raise _branches("== or in")  # a list is searched by ==, and so is a match

    def __ne__(self, other: object) -> bool:
        raise _branches("!=")

    def __hash__(self) -> int:
        raise _branches("a set or a dict")  # by which tables and caches look their keys up

    def __bool__(self) -> bool:
        raise _branches("if, and, or, not")

    def __float__(self) -> float:
        raise InputError("a coupling's function takes numpy's functions: np.sin, not math.sin")


def _branches(by: str) -> InputError:
    return InputError(
        f"a coupling's function may not branch on its arguments, as it does by {by}: it is called "
        "once, and what it computed is kept"
    )


def _made(operation: str, *values: Any) -> Number:
    """The node of an operation on numbers.

    Raises: InputError for what is no number.
    """
    tape = next(value.tape for value in values if isinstance(value, Number))
    numbers = [tape.number(value) for value in values]
    found = [number for number in numbers if number is not None]
    if len(found) < len(numbers):
        raise InputError(f"a coupling's function works on numbers, not on {values[-1]!r:.40}")
    if operation == "divide" and found[1].node == ("constant", (0.0,)):
        raise InputError("a coupling's function divides by zero")
    return Number(tape, tape.add(operation, *(number.place for number in found)))


def _power(base: Number, given: Any) -> Number:
    """Whole powers and halves of them."""
    number = base.tape.number(given)
    if number is None or number.node[0] != "constant":
        raise UnsupportedFeatureError("a coupling's function may raise to constant powers only")
    power = number.node[1][0]
    if not (2.0 * power).is_integer() or abs(power) > _MOST_POWER:
        raise UnsupportedFeatureError(
            f"a coupling's function may raise to whole powers and halves up to {_MOST_POWER}, "
            f"not to {power}"
        )
    left = int(abs(power))
    result = _made("sqrt", base) if not power.is_integer() else None
    square = base
    while left:
        if left % 2:
            result = square if result is None else result * square
        left //= 2
        square = square * square if left else square
    if result is None:
        return base * 0.0 + 1.0
    return 1.0 / result if power < 0 else result


def _root_of_rest(x: Number) -> Number:
    return _made("sqrt", 1.0 - x * x)


NAMES: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: _made("add", a, b),
    "subtract": lambda a, b: _made("subtract", a, b),
    "multiply": lambda a, b: _made("multiply", a, b),
    "divide": lambda a, b: _made("divide", a, b),
    "negative": lambda x: _made("negative", x),
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "power": _power,
    "sqrt": lambda x: _made("sqrt", x),
    "hypot": lambda a, b: _made("sqrt", a * a + b * b),
    "sin": lambda x: _made("sin", x),
    "cos": lambda x: _made("cos", x),
    "tan": lambda x: _made("divide", _made("sin", x), _made("cos", x)),
    "arcsin": lambda x: _made("arctan2", x, _root_of_rest(x)),
    "arccos": lambda x: _made("arctan2", _root_of_rest(x), x),
    "arctan": lambda x: _made("arctan2", x, 1.0),
    "arctan2": lambda y, x: _made("arctan2", y, x),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "degrees": lambda x: x * (180.0 / math.pi),
}
"""NumPy's functions that may be used, by name."""


def _needed(nodes: Sequence[Node], last: int) -> tuple[Node, ...]:
    """The nodes that the last one needs, numbered anew."""
    needed = {last}
    for place in range(last, -1, -1):
        operation, arguments = nodes[place]
        if place in needed and ARITY[operation]:
            needed.update(map(int, arguments))
    new: dict[int, int] = {}
    kept: list[Node] = []
    for place in sorted(needed):
        operation, arguments = nodes[place]
        if ARITY[operation]:
            arguments = tuple(float(new[int(a)]) for a in arguments)
        new[place] = len(kept)
        kept.append((operation, arguments))
    return tuple(kept)


_Rule: TypeAlias = "tuple[Block, tuple[Block | float, ...]]"


def _quotient(o: Ops, a: Block, b: Block) -> _Rule:
    inverse = 1.0 / b
    value = a * inverse
    return value, (inverse, -(value * inverse))


def _root(o: Ops, x: Block) -> _Rule:
    value = o.sqrt(x)
    return value, (0.5 / value,)


def _angle(o: Ops, y: Block, x: Block) -> _Rule:
    inverse = 1.0 / (x * x + y * y)
    return o.atan2(y, x), (x * inverse, -(y * inverse))


_RULES: dict[str, Callable[..., _Rule]] = {
    "negative": lambda o, x: (-x, (-1.0,)),
    "add": lambda o, a, b: (a + b, (1.0, 1.0)),
    "subtract": lambda o, a, b: (a - b, (1.0, -1.0)),
    "multiply": lambda o, a, b: (a * b, (b, a)),
    "divide": _quotient,
    "sin": lambda o, x: (o.sin(x), (o.cos(x),)),
    "cos": lambda o, x: (o.cos(x), (-o.sin(x),)),
    "sqrt": _root,
    "arctan2": _angle,
}
"""The value of each operation, and its derivative by each argument."""
