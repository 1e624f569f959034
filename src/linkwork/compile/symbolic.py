"""An algorithm as a CasADi function: for optimisation problems, derivatives, other code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from linkwork import extras
from linkwork.compile.c_names import Names
from linkwork.compile.signature import Shape
from linkwork.compile.tracing import Traced, trace
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import ZERO

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
    values = _replayed(traced, symbols)
    shaped = [
        matrix_of(cs.vertcat(*[values[k] for k in numbers]), shape)
        for numbers, shape in zip(traced.outputs, signature.output_shapes, strict=True)
    ]
    names = Names()
    named = [names.new(name) for name in signature.input_names]
    made = [names.new(name) for name in signature.output_names]
    return cs.Function(algorithm, symbols, shaped, named, made)


def _replayed(traced: Traced, symbols: Sequence[Any]) -> dict[int, Any]:
    """The values of a graph's expressions, computed once more on CasADi's symbols."""
    graph = traced.graph
    values: dict[int, Any] = {ZERO: cs.SX(1, 1)}
    for k in traced.order:
        operation, arguments = graph.operations[k], graph.arguments[k]
        if operation == "INPUT":
            which, element = arguments
            values[k] = symbols[which][element]
        elif operation == "CONST":
            values[k] = cs.SX(graph.values[k]) if k != ZERO else values[ZERO]
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
