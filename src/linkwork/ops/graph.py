"""The operations on a graph of scalar expressions: what is traced, simplified and compiled.

An `ExpressionGraph` holds every scalar expression once: what is asked for again is what is there.
Constants are folded, and what is zero or one by structure costs nothing, so that products with the
exact zeros of placements and axes never exist. A block is an array of such expressions; Python's
arithmetic and NumPy's functions work on it, so that a person's function of numbers is traced too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.ops.protocol import Block, Condition

ZERO, ONE = 0, 1
"""The numbers of the expressions 0.0 and 1.0 in every graph."""


_FOLDED: dict[str, Callable[..., Any]] = {
    "SIN": np.sin, "COS": np.cos, "ATAN2": math.atan2, "SQRT": np.sqrt, "FLOOR": np.floor,
    "FABS": abs, "FMIN": np.fmin, "FMAX": np.fmax, "LT": lambda a, b: float(a < b),
    "AND": lambda a, b: float(a != 0 and b != 0), "OR": lambda a, b: float(a != 0 or b != 0),
}  # fmt: skip
"""The values of operations of constants; `_RULES` has those of the others."""

NUMERIC: dict[str, Callable[..., Any]] = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "NEG": np.negative,
    "SQRT": np.sqrt, "FABS": np.abs, "FLOOR": np.floor, "FMIN": np.fmin, "FMAX": np.fmax,
    "LT": lambda a, b: _truth(a < b), "NOT": lambda x: _truth(np.asarray(x) == 0),
    "AND": lambda a, b: _truth(np.logical_and(a, b)),
    "OR": lambda a, b: _truth(np.logical_or(a, b)),
    "IF_ELSE_ZERO": lambda c, x: np.where(np.asarray(c) != 0, x, 0.0),
    "SIN": np.sin, "COS": np.cos, "ATAN2": np.arctan2,
}  # fmt: skip
"""Operations by name, on arrays of numbers, element by element; conditions are 1 and 0."""


def _truth(x: Any) -> Any:
    return np.float64(np.asarray(x, dtype=bool))


class ExpressionGraph:
    """Scalar expressions by number: an operation, the numbers of its arguments, a constant's value.

    Arguments have lower numbers than the expressions that they occur in. The operations are the
    names of the op table (`compile.optable`), ``CONST``, and ``INPUT``, whose arguments say which
    input and which of its elements it is. A ``CALL`` of a program has its number among `programs`
    before its arguments, and a ``RESULT`` is one element of what a call gives.
    """

    def __init__(self) -> None:
        self.operations: list[str] = ["CONST", "CONST"]
        self.arguments: list[tuple[int, ...]] = [(), ()]
        self.values: list[float | None] = [0.0, 1.0]
        self.programs: list[Any] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._constants: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.operations)

    def _new(self, operation: str, arguments: tuple[int, ...], value: float | None = None) -> int:
        self.operations.append(operation)
        self.arguments.append(arguments)
        self.values.append(value)
        return len(self.operations) - 1

    def constant(self, value: float) -> int:
        """The expression of a number; 0.0 and -0.0 are one."""
        if value == 0.0:
            return ZERO
        if value == 1.0:
            return ONE
        key = np.float64(value).tobytes()  # a NaN is equal to itself
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._new("CONST", (), float(value))
        return found

    def input(self, which: int, element: int) -> int:
        """The expression of one element of an input."""
        return self.node("INPUT", which, element)

    def call(self, program: Any, arguments: Sequence[int], count: int) -> list[int]:
        """The ``count`` numbers that a program gives for these arguments, one after the other."""
        places = [k for k, known in enumerate(self.programs) if known is program]
        if not places:
            places.append(len(self.programs))
            self.programs.append(program)
        call = self.node("CALL", places[0], *arguments)
        return [self.node("RESULT", call, element) for element in range(count)]

    def below(self, k: int) -> tuple[int, ...]:
        """The expressions that an expression is made of."""
        arguments = self.arguments[k]
        if self.operations[k] == "INPUT":
            return ()
        if self.operations[k] == "CALL":
            return arguments[1:]
        return arguments[:1] if self.operations[k] == "RESULT" else arguments

    def node(self, operation: str, *arguments: int) -> int:
        """An expression as it is, not simplified, without a second one of the same kind."""
        key = (operation, *arguments)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._new(operation, arguments)
        return found

    def apply(self, operation: str, *arguments: int) -> int:
        """The expression of an operation, simplified as far as the rules of this graph go."""
        rule = _RULES.get(operation)
        if rule is not None:
            return rule(self, *arguments)
        fold = _FOLDED.get(operation)
        if fold is not None:
            values = [self.values[k] for k in arguments]
            if None not in values:
                with np.errstate(all="ignore"):
                    return self.constant(float(fold(*values)))
        return self.node(operation, *arguments)

    def needed(self, outputs: Sequence[Sequence[int]]) -> list[int]:
        """The expressions that outputs are made of, arguments first: depth first from the outputs.

        An output that is 0 needs none. In this order a value is computed shortly before it is used,
        so that few are alive at once.
        """
        placed = bytearray(len(self.operations))
        order: list[int] = []
        operations, arguments = self.operations, self.arguments
        leaves = {"INPUT", "CALL", "RESULT"}
        for output in outputs:
            for root in output:
                stack = [root] if root else []
                while stack:
                    k = stack[-1]
                    if placed[k]:
                        stack.pop()
                        continue
                    below = self.below(k) if operations[k] in leaves else arguments[k]
                    waiting = [a for a in reversed(below) if not placed[a]]
                    if waiting:
                        stack.extend(waiting)
                    else:
                        stack.pop()
                        placed[k] = 1
                        order.append(k)
        return order

    def evaluated(
        self, order: Sequence[int], outputs: Sequence[int], inputs: Sequence[Any]
    ) -> list[Any]:
        """The numbers of outputs, with what they are made of in ``order``, as `needed` gives it.

        An element of an input may be an array, all of one shape: then each output is one, or a
        number where it depends on none. There are no programs.
        """
        found: list[Any] = [None] * len(self)
        found[ZERO] = 0.0
        operations, arguments, values = self.operations, self.arguments, self.values
        for k in order:
            operation, own = operations[k], arguments[k]
            if operation == "INPUT":
                found[k] = inputs[own[0]][own[1]]
            elif operation == "CONST":
                found[k] = values[k]
            else:
                found[k] = NUMERIC[operation](*[found[a] for a in own])
        return [found[k] for k in outputs]

    # The rules remember their answer under what they were asked, so that they run once.

    def add(self, a: int, b: int) -> int:
        """A + b."""
        if a > b:
            a, b = b, a
        if not a:
            return b
        found = self._known.get(("ADD", a, b))
        if found is None:
            found = self._known["ADD", a, b] = self._sum(a, b)
        return found

    def _sum(self, a: int, b: int) -> int:
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(x + y)
        if a == b:
            return self.multiply(self.constant(2.0), a)
        if self.operations[b] == "NEG":
            return self.subtract(a, self.arguments[b][0])
        if self.operations[a] == "NEG":
            return self.subtract(b, self.arguments[a][0])
        return self._new("ADD", (a, b))

    def subtract(self, a: int, b: int) -> int:
        """A - b."""
        if not b:
            return a
        if not a:
            return self.negative(b)
        found = self._known.get(("SUB", a, b))
        if found is None:
            found = self._known["SUB", a, b] = self._difference(a, b)
        return found

    def _difference(self, a: int, b: int) -> int:
        if a == b:
            return ZERO
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(x - y)
        if self.operations[b] == "NEG":
            return self.add(a, self.arguments[b][0])
        if self.operations[a] == "NEG":
            return self.negative(self.add(self.arguments[a][0], b))
        opposite = self._known.get(("SUB", b, a))
        if opposite is not None:
            return self.negative(opposite)
        return self._new("SUB", (a, b))

    def multiply(self, a: int, b: int) -> int:
        """A b."""
        if a > b:
            a, b = b, a
        if a <= ONE:
            return b if a else ZERO
        found = self._known.get(("MUL", a, b))
        if found is None:
            found = self._known["MUL", a, b] = self._product(a, b)
        return found

    def _product(self, a: int, b: int) -> int:
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(x * y)
        if x == -1.0 or y == -1.0:
            return self.negative(b if x is not None else a)
        if x is not None or y is not None:
            scaled = self._scaled(*((x, b) if x is not None else (y, a)))
            if scaled is not None:
                return scaled
        if self.operations[a] == "NEG":
            return self.negative(self.multiply(self.arguments[a][0], b))
        if self.operations[b] == "NEG":
            return self.negative(self.multiply(a, self.arguments[b][0]))
        return self._new("MUL", (a, b))

    def _scaled(self, factor: float | None, a: int) -> int | None:
        """A constant times what is a constant times something already."""
        if self.operations[a] != "MUL" or factor is None:
            return None
        first, second = self.arguments[a]
        for known, other in ((first, second), (second, first)):
            value = self.values[known]
            if value is not None:
                return self.multiply(self.constant(factor * value), other)
        return None

    def divide(self, a: int, b: int) -> int:
        """A / b."""
        if b == ONE or (not a and b):
            return a
        found = self._known.get(("DIV", a, b))
        if found is None:
            found = self._known["DIV", a, b] = self._ratio(a, b)
        return found

    def _ratio(self, a: int, b: int) -> int:
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            with np.errstate(all="ignore"):
                return self.constant(float(np.float64(x) / np.float64(y)))
        if a == b:
            return ONE
        if y is not None and abs(math.frexp(y)[0]) == 0.5 and math.isfinite(1.0 / y):
            return self.multiply(a, self.constant(1.0 / y))  # exact: y is a power of 2
        if self.operations[a] == "NEG":
            return self.negative(self.divide(self.arguments[a][0], b))
        if self.operations[b] == "NEG":
            return self.negative(self.divide(a, self.arguments[b][0]))
        return self._new("DIV", (a, b))

    def negative(self, a: int) -> int:
        """-a."""
        if not a:
            return ZERO
        found = self._known.get(("NEG", a))
        if found is None:
            found = self._known["NEG", a] = self._opposite(a)
        return found

    def _opposite(self, a: int) -> int:
        x = self.values[a]
        if x is not None:
            return self.constant(-x)
        if self.operations[a] == "NEG":
            return self.arguments[a][0]
        return self._new("NEG", (a,))

    def only_where(self, condition: int, a: int) -> int:
        """A where the condition is not 0, else 0, also where ``a`` is not finite there."""
        if not a or not condition:
            return ZERO
        c = self.values[condition]
        return a if c is not None else self.node("IF_ELSE_ZERO", condition, a)

    def opposite_condition(self, condition: int) -> int:
        """1 where the condition is 0, else 0."""
        c = self.values[condition]
        return self.node("NOT", condition) if c is None else self.constant(float(c == 0))

    def inner(self, a: Sequence[int], b: Sequence[int]) -> int:
        """The sum of the products of two sequences."""
        at, add, multiply = ZERO, self.add, self.multiply
        for x, y in zip(a, b, strict=True):
            if x and y:
                at = add(at, multiply(x, y))
        return at


_RULES: dict[str, Callable[..., int]] = {
    "ADD": ExpressionGraph.add,
    "SUB": ExpressionGraph.subtract,
    "MUL": ExpressionGraph.multiply,
    "DIV": ExpressionGraph.divide,
    "NEG": ExpressionGraph.negative,
    "IF_ELSE_ZERO": ExpressionGraph.only_where,
    "NOT": ExpressionGraph.opposite_condition,
}
"""Operations that are simplified."""


def _operator(name: str) -> tuple[Callable[..., Expressions], Callable[..., Expressions]]:
    """An operator of blocks and the reflected one: the rule of this name, element by element."""

    def operator(self: Expressions, other: Any) -> Expressions:
        return self.both(getattr(self.graph, name), self, other)

    def reflected(self: Expressions, other: Any) -> Expressions:
        return self.both(getattr(self.graph, name), other, self)

    return operator, reflected


def _refusal(by: str) -> Callable[..., Any]:
    """A method that refuses to tell a function that is traced which way to go."""

    def refuse(_self: Expressions, *_other: object) -> Any:
        raise InputError(
            f"a traced function may not branch on its numbers, as it does by {by}: it is called "
            "once, and what it computed is kept"
        )

    return refuse


_NO_PARTS = "a traced number is one number: it has no length, and no parts to index"


class Expressions:
    """A block of a graph: ``numbers`` of its expressions in row-major order, and a shape.

    It takes `FUNCTIONS` of NumPy, element by element, and whole powers and halves of them. It has
    no value to compare or to branch on: whoever tries is told so.
    """

    __slots__ = ("graph", "numbers", "shape")

    def __init__(self, graph: ExpressionGraph, shape: tuple[int, ...], numbers: list[int]) -> None:
        self.graph, self.shape, self.numbers = graph, shape, numbers

    def __repr__(self) -> str:
        return f"Expressions{self.shape}"

    def both(self, operation: Callable[[int, int], int], a: Any, b: Any) -> Expressions:
        """An operation element by element, of equal shapes or of a scalar with a block."""
        if not isinstance(a, _TAKEN) or not isinstance(b, _TAKEN):
            return NotImplemented  # dual numbers know what to do with a block
        first = a if isinstance(a, Expressions) else block_of(self.graph, a)
        second = b if isinstance(b, Expressions) else block_of(self.graph, b)
        x, y, shape = first.numbers, second.numbers, first.shape
        if shape != second.shape:
            if shape and second.shape:
                raise ValueError(
                    f"blocks of the shapes {shape} and {second.shape} do not go together"
                )
            x, y = (x, y * len(x)) if shape else (x * len(y), y)
            shape = shape or second.shape
        return Expressions(self.graph, shape, list(map(operation, x, y)))

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")

    def __neg__(self) -> Expressions:
        return self.each(self.graph.negative)

    def __pos__(self) -> Expressions:
        return self

    def __pow__(self, power: Any) -> Expressions:
        return _power(self, power)

    def __matmul__(self, other: Any) -> Expressions:
        if not isinstance(other, _TAKEN):
            return NotImplemented
        return _matrix_product(self, other)

    def __rmatmul__(self, other: Any) -> Expressions:
        return _matrix_product(block_of(self.graph, other), self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(_NO_PARTS)
        return self.shape[0]

    def __getitem__(self, index: Any) -> Expressions:
        if not self.shape:
            raise TypeError(_NO_PARTS)
        if isinstance(index, tuple):
            i, j = index
            n_rows, n_columns = self.shape
            at = _place(i, n_rows) * n_columns + _place(j, n_columns)
        else:
            (length,) = self.shape
            at = _place(index, length)
        return Expressions(self.graph, (), [self.numbers[at]])

    def each(self, operation: Callable[[int], int]) -> Expressions:
        """An operation on every element."""
        return Expressions(self.graph, self.shape, [operation(k) for k in self.numbers])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = FUNCTIONS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            called = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise UnsupportedFeatureError(
                f"a traced function may use {', '.join(sorted(FUNCTIONS))} of NumPy, as they are "
                f"called without options, not numpy.{called}"
            )
        return function(*inputs)

    __lt__, __le__, __gt__, __ge__ = map(_refusal, ("<", "<=", ">", ">="))
    __eq__ = _refusal("== or in")  # a list is searched by ==, and so is a match
    __ne__ = _refusal("!=")
    __hash__ = _refusal("a set or a dict")  # by which tables and caches look their keys up
    __bool__ = _refusal("if, and, or, not")

    def __float__(self) -> float:
        raise InputError("a traced function takes numpy's functions: np.sin, not math.sin")

    def rows(self) -> list[list[int]]:
        """The numbers of a matrix, row by row."""
        n_rows, n_columns = self.shape
        return [self.numbers[i * n_columns : (i + 1) * n_columns] for i in range(n_rows)]


_TAKEN = (Expressions, int, float, np.ndarray, np.generic)
"""The types that an operator of a block takes."""


def _place(index: Any, length: int) -> int:
    at = index + length if index < 0 else index
    if not 0 <= at < length:
        raise IndexError(f"there is no element {index} among {length}")
    return at


def _matrix_product(a: Expressions, other: Any) -> Expressions:
    b = other if isinstance(other, Expressions) else block_of(a.graph, other)
    if len(a.shape) != 2 or a.shape[1:] != b.shape[:1]:
        raise ValueError(f"there is no product of the shapes {a.shape} and {b.shape}")
    inner = a.graph.inner
    if len(b.shape) == 1:
        return Expressions(a.graph, a.shape[:1], [inner(row, b.numbers) for row in a.rows()])
    n_columns = b.shape[1]
    columns = [b.numbers[j::n_columns] for j in range(n_columns)]
    numbers = [inner(row, column) for row in a.rows() for column in columns]
    return Expressions(a.graph, (a.shape[0], n_columns), numbers)


MOST_POWER = 64


def _power(base: Expressions, given: Any) -> Expressions:
    """A whole power or half of one, by products of squares."""
    if not isinstance(given, (int, float, np.number)):
        raise UnsupportedFeatureError(
            f"a traced function may raise to constant powers only, not to {given!r:.40}"
        )
    power = float(given)
    if not (2.0 * power).is_integer() or abs(power) > MOST_POWER:
        raise UnsupportedFeatureError(
            f"a traced function may raise to whole powers and halves up to {MOST_POWER}, "
            f"not to {power}"
        )
    result = block_of(base.graph, np.ones(base.shape))
    if not power.is_integer():
        result = _applied("SQRT", base)
    left, square = int(abs(power)), base
    while left:
        if left % 2:
            result = result * square
        left //= 2
        square = square * square if left else square
    return 1.0 / result if power < 0 else result


def _applied(operation: str, *blocks: Any) -> Any:
    """An operation of the graph on every element."""
    own = next(each for each in blocks if isinstance(each, Expressions))
    function = partial(own.graph.apply, operation)
    return own.each(function) if len(blocks) == 1 else own.both(function, *blocks)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": partial(_applied, "ADD"), "subtract": partial(_applied, "SUB"),
    "multiply": partial(_applied, "MUL"), "divide": partial(_applied, "DIV"),
    "matmul": lambda a, b: b.__rmatmul__(a), "negative": lambda x: -x, "positive": lambda x: x,
    "power": _power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "sqrt": lambda x: _applied("SQRT", x),
    "hypot": lambda a, b: _applied("SQRT", a * a + b * b),
    "sin": lambda x: _applied("SIN", x),
    "cos": lambda x: _applied("COS", x),
    "tan": lambda x: _applied("SIN", x) / _applied("COS", x),
    "arcsin": lambda x: _applied("ATAN2", x, _applied("SQRT", 1.0 - x * x)),
    "arccos": lambda x: _applied("ATAN2", _applied("SQRT", 1.0 - x * x), x),
    "arctan": lambda x: _applied("ATAN2", x, 1.0),
    "arctan2": lambda y, x: _applied("ATAN2", y, x),
    "deg2rad": lambda x: x * (math.pi / 180.0), "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi), "degrees": lambda x: x * (180.0 / math.pi),
}  # fmt: skip
"""NumPy's functions that blocks take, by name."""


def block_of(graph: ExpressionGraph, value: Any) -> Expressions:
    """A scalar, vector or matrix of numbers as a block of constants."""
    if isinstance(value, (int, float)):
        return Expressions(graph, (), [graph.constant(value)])
    array = np.asarray(value, dtype=np.float64)
    return Expressions(graph, array.shape, [graph.constant(x) for x in array.ravel().tolist()])


def _of_scalars(operation: str) -> Callable[..., Expressions]:
    """A method that is this operation of the graph."""

    def method(self: GraphOps, *scalars: Block) -> Expressions:
        number = self.graph.apply(operation, *[self.scalar(each) for each in scalars])
        return Expressions(self.graph, (), [number])

    return method


class GraphOps:
    """A graph's meaning of each operation; one for each graph."""

    name = "graph"

    def __init__(
        self, graph: ExpressionGraph | None = None, loops: Callable[..., Any] | None = None
    ) -> None:
        """``loops`` makes loops of functions of long mechanisms; see `algorithms.sweep.looped`."""
        self.graph = ExpressionGraph() if graph is None else graph
        self.loops = loops

    def input(self, which: int, length: int) -> Expressions:
        """Input number ``which`` of a function, a vector."""
        numbers = [self.graph.input(which, k) for k in range(length)]
        return Expressions(self.graph, (length,), numbers)

    def const(self, value: Any) -> Expressions:
        """The value as constants; a block is itself."""
        return value if isinstance(value, Expressions) else block_of(self.graph, value)

    def scalar(self, value: Any) -> int:
        """The number of a scalar's expression."""
        (number,) = self.const(value).numbers
        return number

    def vector(self, scalars: Sequence[Block]) -> Expressions:
        """The scalars as one vector."""
        return Expressions(self.graph, (len(scalars),), [self.scalar(each) for each in scalars])

    def matrix(self, columns: Sequence[Block]) -> Expressions:
        parts = [self.const(column).numbers for column in columns]
        rows = zip(*parts, strict=True)
        return Expressions(self.graph, (len(parts[0]), len(parts)), list(chain.from_iterable(rows)))

    def concat(self, vectors: Sequence[Block]) -> Expressions:
        numbers = list(chain.from_iterable(self.const(v).numbers for v in vectors))
        return Expressions(self.graph, (len(numbers),), numbers)

    def part(self, v: Block, start: int, stop: int) -> Expressions:
        numbers = v.numbers[start:stop]
        return Expressions(self.graph, (len(numbers),), numbers)

    def column(self, a: Block, j: int) -> Expressions:
        n_rows, n_columns = a.shape
        return Expressions(self.graph, (n_rows,), a.numbers[_place(j, n_columns) :: n_columns])

    def row(self, a: Block, i: int) -> Expressions:
        n_rows, n_columns = a.shape
        at = _place(i, n_rows) * n_columns
        return Expressions(self.graph, (n_columns,), a.numbers[at : at + n_columns])

    def transpose(self, a: Block) -> Expressions:
        n_rows, n_columns = a.shape
        numbers = [k for j in range(n_columns) for k in a.numbers[j::n_columns]]
        return Expressions(self.graph, (n_columns, n_rows), numbers)

    def dot(self, a: Block, b: Block) -> Expressions:
        number = self.graph.inner(self.const(a).numbers, self.const(b).numbers)
        return Expressions(self.graph, (), [number])

    def cross(self, a: Block, b: Block) -> Expressions:
        g = self.graph
        (x, y, z), (u, v, w) = self.const(a).numbers, self.const(b).numbers
        numbers = [
            g.subtract(g.multiply(y, w), g.multiply(z, v)),
            g.subtract(g.multiply(z, u), g.multiply(x, w)),
            g.subtract(g.multiply(x, v), g.multiply(y, u)),
        ]
        return Expressions(g, (3,), numbers)

    def outer(self, a: Block, b: Block) -> Expressions:
        x, y = self.const(a).numbers, self.const(b).numbers
        multiply = self.graph.multiply
        numbers = [multiply(j, k) for j in x for k in y]
        return Expressions(self.graph, (len(x), len(y)), numbers)

    sin, cos, sqrt = map(_of_scalars, ("SIN", "COS", "SQRT"))
    atan2 = _of_scalars("ATAN2")
    floor, absolute = map(_of_scalars, ("FLOOR", "FABS"))
    minimum, maximum = map(_of_scalars, ("FMIN", "FMAX"))
    less = _of_scalars("LT")
    """Whether a < b, as 0 or 1."""
    both, either, negate = map(_of_scalars, ("AND", "OR", "NOT"))

    def select(self, condition: Condition, a: Block, b: Block) -> Expressions:
        """``(c ? a : 0) + (!c ? b : 0)``, element by element: both sides stand in the graph."""
        g, c = self.graph, self.scalar(condition)
        otherwise = g.opposite_condition(c)
        first, second = self.const(a), self.const(b)
        shape = first.shape or second.shape
        x = first.numbers * (len(second.numbers) if not first.shape else 1)
        y = second.numbers * (len(first.numbers) if not second.shape else 1)
        numbers = [
            j if j == k else g.add(g.only_where(c, j), g.only_where(otherwise, k))
            for j, k in zip(x, y, strict=True)
        ]
        return Expressions(g, shape, numbers)
