"""Algorithms on CasADi's SX: for optimisation problems, derivatives, other code.

An expression graph is replayed: each of its expressions is computed once more, on symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwork import extras
from linkwork.compile.c_source import Names
from linkwork.compile.recipe import Shape
from linkwork.compile.tracing import trace
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import ZERO, ExpressionGraph, Expressions, GraphOps

cs = extras.casadi()


def symbolic(
    algorithm: str, mechanism: Mechanism, parameters: str | Sequence[str] = (), **static: Any
) -> Any:
    """The graph that is compiled, as a CasADi function of named inputs and matrices.

    Shapes: every input is a column; the output has the shape that the compiled call gives for one
    configuration, a vector as a column. A list of matrices, as of `fk_all`, is stacked: the pose of
    frame k is the rows 4 k to 4 k + 3 of a matrix (4 nf, 4). Parameters are inputs behind the
    algorithm's own, with what CasADi does not take in a name turned into underscores. Zeros that
    hold for every configuration are structural: derivatives skip them.

    The function takes numbers, SX and MX; derivatives of every order are CasADi's.

    Raises: UnknownNameError for an algorithm, a frame or a parameter that does not exist.
    """
    given: dict[str, Any] = {"parameters": parameters} if parameters else {}
    traced = trace(algorithm, mechanism, **given, **static)
    signature = traced.signature
    symbols = [
        cs.SX.sym(name, math.prod(shape))
        for name, shape in zip(signature.input_names, signature.input_shapes, strict=True)
    ]
    inputs = {
        k: symbols[which][element]
        for k in traced.order
        if traced.graph.operations[k] == "INPUT"
        for which, element in [traced.graph.arguments[k]]
    }
    values = _replayed(traced.graph, traced.order, inputs)
    shaped = [
        matrix_of(cs.vertcat(*[values[k] for k in numbers]), shape)
        for numbers, shape in zip(traced.outputs, signature.output_shapes, strict=True)
    ]
    names = Names()
    named = [names.new(name) for name in signature.input_names]
    made = [names.new(name) for name in signature.output_names]
    return cs.Function(algorithm, symbols, shaped, named, made)


def on_symbols(function: Callable[..., Any], *blocks: Any) -> Any:
    """``function(o, *blocks)`` of blocks that are SX: what it gives, as SX or a list of them.

    ``function`` is written over the operations `o`, as algorithms are. A column is a vector to it,
    also of one element, and the SX of a result have its shape; what is no SX is passed on as it is.
    """
    o, symbols = GraphOps(), dict[int, Any]()
    result = function(o, *[_lifted(o, k, block, symbols) for k, block in enumerate(blocks)])
    listed = isinstance(result, (list, tuple))
    found = [o.const(each) for each in (result if listed else [result])]
    values = _replayed(o.graph, o.graph.needed([each.numbers for each in found]), symbols)
    made = [matrix_of(cs.vertcat(*[values[k] for k in each.numbers]), each.shape) for each in found]
    return made if listed else made[0]


def _lifted(o: GraphOps, which: int, block: Any, symbols: dict[int, Any]) -> Any:
    """A block of the graph for an SX; which symbols its inputs stand for goes into ``symbols``."""
    if not isinstance(block, cs.SX):
        return block
    n_rows, n_columns = block.shape
    numbers: list[int] = []
    for element in range(n_rows * n_columns):
        entry = block[element // n_columns, element % n_columns]
        if entry.is_constant():
            numbers.append(o.graph.constant(float(entry)))
        else:
            numbers.append(o.graph.input(which, element))
            symbols[numbers[-1]] = entry
    shape = block.shape if n_columns != 1 else (n_rows,)
    return Expressions(o.graph, shape, numbers)


def _replayed(
    graph: ExpressionGraph, order: Sequence[int], inputs: Mapping[int, Any]
) -> dict[int, Any]:
    """The values of a graph's expressions, arguments first, computed once more on SX."""
    values: dict[int, Any] = {ZERO: cs.SX(1, 1), **inputs}
    for k in order:
        if k in values:
            continue
        operation, arguments = graph.operations[k], graph.arguments[k]
        if operation == "CONST":
            values[k] = cs.SX(graph.values[k])
        else:
            code = getattr(cs, f"OP_{operation}")
            own = [values[a] for a in arguments]
            values[k] = cs.SX.unary(code, *own) if len(own) == 1 else cs.SX.binary(code, *own)
    return values


def matrix_of(column: Any, shape: Shape) -> Any:
    """A row-major column as the matrix of this shape; the leading axes of three or more as one."""
    if len(shape) < 2:
        return column
    return cs.reshape(column, shape[-1], math.prod(shape[:-1])).T
