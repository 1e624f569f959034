"""Traced functions made into their own derivatives: along directions, and backwards.

Both passes go over a graph once and know one thing, the slopes of each operation (`_slopes`). What
comes out is a traced function again, to be compiled, kept and differentiated like any other.

`ops/dual.py` has derivatives where a text itself needs them, before there is a graph and on any
back end (stiffness in a simulation, manipulability, NumPy); these passes need a whole graph, and
see the calls of loops in it as operations without a slope. A call could have one by a program of
its own, which would be derived from the passes over joints that made it, not from their graph.

Source: A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed. (2008), sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from linkwork.compile.recipe import Recipe, Shape, Signature
from linkwork.compile.signs import with_few_negations
from linkwork.errors import UnsupportedFeatureError
from linkwork.ops.graph import ONE, ZERO, ExpressionGraph

if TYPE_CHECKING:
    from linkwork.compile.tracing import Traced

Direction = Literal["along", "back"]


def derivative_recipe(recipe: Recipe, direction: Direction, wrt: Sequence[int]) -> Recipe:
    """The recipe of a function's derivative by the inputs ``wrt``, numbers in rising order.

    ``"along"``: the function takes the inputs, then a change of each one in ``wrt``, and gives the
    change of each output. ``"back"``: it takes the inputs, then a weight for each number of each
    output, and gives the derivative of the weighted sum by each input in ``wrt``. The first is
    linear in the changes, the second in the weights.
    """
    chosen = tuple(wrt)
    make = along if direction == "along" else back
    key = (*recipe.key, direction, repr(chosen)) if recipe.key else ()
    name = f"{recipe.name}, {'changed' if direction == 'along' else 'differentiated'}"

    def trace() -> Traced:
        return make(recipe.traced(), chosen)

    return Recipe(key, trace, name=name, about=recipe.about)


def along(traced: Traced, wrt: Sequence[int]) -> Traced:
    """The changes of the outputs while the inputs ``wrt`` change; see `derivative_recipe`.

    Raises: UnsupportedFeatureError where loops over joints are in the function.
    """
    graph, signature = traced.graph, traced.signature
    first, place = len(signature.input_names), {which: k for k, which in enumerate(wrt)}
    changes: dict[int, int] = {}
    for k in traced.order:
        if graph.operations[k] == "INPUT":
            which, element = graph.arguments[k]
            if which in place:
                changes[k] = graph.input(first + place[which], element)
            continue
        total = ZERO
        for argument, slope in _slopes(graph, k, traced.name, changes):
            total = graph.add(total, slope.of(graph, changes[argument]))
        if total != ZERO:
            changes[k] = total
    outputs = tuple(tuple(changes.get(k, ZERO) for k in each) for each in traced.outputs)
    names = [f"change of {signature.input_names[which]}" for which in wrt]
    results = [f"change of {name}" for name in signature.output_names]
    shapes = [signature.input_shapes[which] for which in wrt]
    return _traced(traced, outputs, (names, shapes), (results, signature.output_shapes))


def back(traced: Traced, wrt: Sequence[int]) -> Traced:
    """The derivatives of a weighted sum of the outputs; see `derivative_recipe`.

    Raises: UnsupportedFeatureError where loops over joints are in the function.
    """
    graph, signature = traced.graph, traced.signature
    first, chosen = len(signature.input_names), set(wrt)
    moved = _moved(traced, chosen)
    weights: dict[int, int] = {}
    for number, output in enumerate(traced.outputs):
        for element, k in enumerate(output):
            if k in moved:
                own = graph.input(first + number, element)
                weights[k] = graph.add(weights.get(k, ZERO), own)
    found: dict[tuple[int, int], int] = {}
    for k in reversed(traced.order):
        weight = weights.pop(k, ZERO)
        if weight == ZERO:
            continue
        if graph.operations[k] == "INPUT":
            which, element = graph.arguments[k]
            found[which, element] = weight
            continue
        for argument, slope in _slopes(graph, k, traced.name, moved):
            part = slope.of(graph, weight)
            weights[argument] = graph.add(weights.get(argument, ZERO), part)
    sizes = signature.input_sizes
    outputs = tuple(
        tuple(found.get((which, element), ZERO) for element in range(sizes[which])) for which in wrt
    )
    names = [f"weight of {name}" for name in signature.output_names]
    flat = [(size,) for size in signature.output_sizes]
    results = [f"derivative by {signature.input_names[which]}" for which in wrt]
    shapes = [signature.input_shapes[which] for which in wrt]
    return _traced(traced, outputs, (names, flat), (results, shapes))


def _traced(
    traced: Traced,
    outputs: tuple[tuple[int, ...], ...],
    inputs: tuple[Sequence[str], Sequence[Shape]],
    results: tuple[Sequence[str], Sequence[Shape]],
) -> Traced:
    """A function of the inputs and of these others, on the same graph."""
    own = traced.signature
    order = traced.graph.needed(outputs)
    graph, outputs, order = with_few_negations(traced.graph, outputs, order)
    signature = Signature(
        name=own.name,
        input_names=(*own.input_names, *_unlike(own.input_names, inputs[0])),
        input_shapes=(*own.input_shapes, *inputs[1]),
        output_names=tuple(results[0]),
        output_shapes=tuple(results[1]),
        instructions=len(order) + sum(k != ZERO for numbers in outputs for k in numbers),
    )
    from linkwork.compile.tracing import Traced  # noqa: PLC0415  known code needs no tracing

    return Traced(signature, graph, outputs, tuple(order))


def _unlike(known: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """The names, those with a word more that are known already."""
    for name in names:
        while name in known:
            name = f"other {name}"  # noqa: PLW2901  until it is new
        yield name


def _moved(traced: Traced, wrt: set[int]) -> dict[int, int]:
    """The expressions that change with the inputs ``wrt``, as keys."""
    graph = traced.graph
    moved: dict[int, int] = {}
    for k in traced.order:
        if graph.operations[k] == "INPUT":
            if graph.arguments[k][0] in wrt:
                moved[k] = ONE
        elif graph.operations[k] in _LEVEL:
            continue
        elif any(a in moved for a in graph.below(k)):
            moved[k] = ONE
    return moved


class _Slope:
    """The factor or divisor of a change, or the condition under which it is let through."""

    __slots__ = ("how", "number")

    def __init__(self, how: str, number: int = ONE) -> None:
        self.how, self.number = how, number

    def of(self, graph: ExpressionGraph, change: int) -> int:
        """The slope times a change."""
        if self.how == "same":
            return change
        if self.how == "opposite":
            return graph.negative(change)
        if self.how == "divided":
            return graph.divide(change, self.number)
        if self.how == "where":
            return graph.only_where(self.number, change)
        return graph.multiply(self.number, change)


_SAME, _OPPOSITE = _Slope("same"), _Slope("opposite")
_times, _divided, _where = (partial(_Slope, how) for how in ("times", "divided", "where"))

_LEVEL = frozenset({"CONST", "FLOOR", "LT", "NOT", "AND", "OR"})
"""Operations whose value stays the same, or leaps, whatever changes."""


def _slopes(  # noqa: C901, PLR0912  one branch for each operation
    graph: ExpressionGraph, k: int, name: str, moved: dict[int, int]
) -> Iterator[tuple[int, _Slope]]:
    """The arguments of an expression that change, with their slopes.

    Raises: UnsupportedFeatureError for an operation without a slope.
    """
    operation, arguments = graph.operations[k], graph.arguments[k]
    if operation in _LEVEL:
        return
    below = graph.below(k)
    if not any(a in moved for a in below):
        return
    apply = graph.apply
    a, b = (*below, -1)[:2]
    if operation in ("ADD", "SUB"):
        found = (_SAME, _SAME if operation == "ADD" else _OPPOSITE)
    elif operation == "MUL":
        found = (_times(b), _times(a))
    elif operation == "DIV":
        over = _divided(b)
        found = (over, None)
        if b in moved:
            found = (over, _times(graph.negative(graph.divide(k, b))))
    elif operation == "NEG":
        found = (_OPPOSITE,)
    elif operation == "SQRT":
        found = (_divided(graph.add(k, k)),)
    elif operation == "SIN":
        found = (_times(apply("COS", a)),)
    elif operation == "COS":
        found = (_times(graph.negative(apply("SIN", a))),)
    elif operation == "ATAN2":
        squared = graph.add(graph.multiply(a, a), graph.multiply(b, b))
        under = graph.negative(graph.divide(a, squared))
        found = (_times(graph.divide(b, squared)), _times(under))
    elif operation == "FABS":
        below_zero = apply("LT", a, ZERO)
        twice = graph.only_where(below_zero, graph.constant(2.0))
        found = (_times(graph.subtract(ONE, twice)),)
    elif operation in ("FMIN", "FMAX"):
        first = apply("LT", *((a, b) if operation == "FMIN" else (b, a)))
        found = (_where(first), _where(graph.opposite_condition(first)))
    elif operation == "IF_ELSE_ZERO":
        found = (None, _where(a))
    else:
        raise UnsupportedFeatureError(
            f"function {name!r} has no compiled derivative: {_why(operation)}"
        )
    del arguments
    for argument, slope in zip(below, found, strict=True):
        if argument in moved and slope is not None:
            yield argument, slope


def _why(operation: str) -> str:
    if operation in ("CALL", "RESULT"):
        return "it is compiled as loops over the joints, as those of long mechanisms are"
    return f"the operation {operation} has no slope here"
