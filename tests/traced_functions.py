"""Small traced functions for the tests of the compiler, written in CasADi, their judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as cs
import numpy as np

from linkwork.compile.optable import OP_TABLE
from linkwork.compile.recipe import Signature
from linkwork.compile.tracing import Traced
from linkwork.ops.graph import ZERO, ExpressionGraph

NAMES = {
    getattr(cs, attribute): attribute.removeprefix("OP_")
    for attribute in dir(cs)
    if attribute.startswith("OP_")
}
"""CasADi's operations: number -> name."""

SAID_BY_OTHERS = {
    "SQ": lambda g, a: g.node("MUL", a, a),
    "TWICE": lambda g, a: g.node("ADD", a, a),
    "INV": lambda g, a: g.node("DIV", g.constant(1.0), a),
}
"""CasADi's operations that the op table has by other names."""


@dataclass(frozen=True)
class FromCasadi(Traced):
    """What is read of a function, and the function."""

    function: Any = None


def read(function: cs.Function, signature: Signature | None = None) -> FromCasadi:
    """A function of CasADi's as it stands, none of its operations simplified."""
    graph = ExpressionGraph()
    in_rows = [function.sparsity_in(k).row() for k in range(function.n_in())]
    out_rows = [function.sparsity_out(k).row() for k in range(function.n_out())]
    outputs = [[ZERO] * int(function.numel_out(k)) for k in range(function.n_out())]
    slot: dict[int, int] = {}
    for k in range(function.n_instructions()):
        code, source = function.instruction_id(k), function.instruction_input(k)
        target = function.instruction_output(k)
        if code == cs.OP_OUTPUT:
            outputs[target[0]][out_rows[target[0]][target[1]]] = slot[source[0]]
        elif code == cs.OP_INPUT:
            slot[target[0]] = graph.input(source[0], in_rows[source[0]][source[1]])
        elif code == cs.OP_ASSIGN:
            slot[target[0]] = slot[source[0]]
        elif code == cs.OP_CONST:
            slot[target[0]] = graph.constant(float(function.instruction_constant(k)))
        else:
            name, own = NAMES[code], [slot[s] for s in source]
            said = SAID_BY_OTHERS.get(name)
            slot[target[0]] = (
                said(graph, own[0]) if said else graph.node(name, *own[: OP_TABLE[name].arity])
            )
    order = graph.needed(outputs)
    if signature is None:
        sizes = [int(function.numel_in(k)) for k in range(function.n_in())]
        signature = Signature(
            function.name(),
            tuple(function.name_in()),
            tuple((size,) for size in sizes),
            tuple(function.name_out()),
            tuple((len(numbers),) for numbers in outputs),
            len(order) + sum(map(len, outputs)),
        )
    return FromCasadi(signature, graph, tuple(map(tuple, outputs)), tuple(order), function=function)


def traced(name, sizes, function) -> FromCasadi:
    """``function(*symbol vectors) -> SX`` under one output, in row-major order."""
    symbols = [cs.SX.sym(key, size) for key, size in sizes.items()]
    block = cs.SX(function(*symbols))
    n_rows, n_columns = block.shape
    flat = block if n_columns == 1 else cs.reshape(block.T, n_rows * n_columns, 1)
    made = cs.Function(name, symbols, [cs.cse(flat)])
    shape = (n_rows,) if n_columns == 1 else (n_rows, n_columns)
    signature = Signature(
        name, tuple(sizes), tuple((n,) for n in sizes.values()), (name,), (shape,),
        int(made.n_instructions()),
    )  # fmt: skip
    return read(made, signature)


def reference(t: FromCasadi, *arrays) -> np.ndarray:
    """The same by CasADi's own machine, row by row."""
    rows = [
        np.array(t.function(*row)).reshape(t.signature.output_shapes[0])
        for row in zip(*arrays, strict=True)
    ]
    return np.array(rows)


def mixed(x, y):
    """Something with every kind of node: products in sums, roots, turns, choices, calls."""
    a = cs.sin(x[0]) * cs.cos(x[1]) + x[2] * y[0] - y[1] * x[1]
    b = cs.if_else(x[0] < y[0], cs.sqrt(cs.fabs(x[1])), cs.atan2(x[2], y[1]))
    c = cs.fmin(a, b) / (1.0 + x[0] * x[0]) - cs.floor(y[1])
    return cs.vertcat(cs.horzcat(a, b, 0.0), cs.horzcat(c, 1.0, a * b + c))
