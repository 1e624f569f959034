"""CasADi's scalar functions, read as single assignments.

CasADi reuses its work slots; here every value is assigned once. Functions that a function calls are
read in their place.
"""

from __future__ import annotations

from typing import Any

import casadi as cs

from linkwork.compile.graph import Node
from linkwork.compile.optable import OP_TABLE, REFUSED, Op
from linkwork.errors import UnsupportedFeatureError

NAMES: dict[int, str] = {
    getattr(cs, attribute): attribute.removeprefix("OP_")
    for attribute in dir(cs)
    if attribute.startswith("OP_")
}
"""CasADi's operations: number -> name."""


def _rows(sparsity: cs.Sparsity) -> list[int]:
    rows, _ = sparsity.get_triplet()
    return [int(row) for row in rows]


def single_assignments(function: cs.Function) -> tuple[list[Node], list[dict[int, int]]]:
    """The nodes of a function, and per output which node each of its elements takes.

    Raises: UnsupportedFeatureError for an operation that is not in the op table, and for what is
    not an SX function.
    """
    nodes: list[Node] = []
    inputs: list[list[int]] = []
    for argument in range(function.n_in()):
        rows = _rows(function.sparsity_in(argument))
        inputs.append(list(range(len(nodes), len(nodes) + len(rows))))
        nodes.extend(Node("input", (argument, row)) for row in rows)
    outputs: list[dict[int, int]] = []
    for k, results in enumerate(_read(function, inputs, nodes)):
        rows = _rows(function.sparsity_out(k))
        outputs.append({rows[element]: place for element, place in sorted(results.items())})
    return nodes, outputs


def _read(
    function: cs.Function, inputs: list[list[int]], nodes: list[Node]
) -> list[dict[int, int]]:
    """Append a function's assignments; per output, its nonzero elements' nodes."""
    if not function.is_a("SXFunction"):
        raise UnsupportedFeatureError(
            f"function {function.name()!r} is a {function.class_name()}, which holds operations on"
            " matrices; what is compiled is a graph of scalars (SX): function.expand() makes one"
        )
    outputs: list[dict[int, int]] = [{} for _ in range(function.n_out())]
    slot: dict[int, int] = {}
    called: Any = None
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        source = function.instruction_input(k)
        target = function.instruction_output(k)
        if code == cs.OP_OUTPUT:
            outputs[target[0]][target[1]] = slot[source[0]]
        elif code == cs.OP_INPUT:
            slot[target[0]] = inputs[source[0]][source[1]]
        elif code == cs.OP_CONST:
            slot[target[0]] = len(nodes)
            nodes.append(Node("const", value=float(function.instruction_constant(k))))
        elif code in (cs.OP_ASSIGN, cs.OP_LIFT):  # a second name; lift's guess is for solvers
            slot[target[0]] = slot[source[0]]
        elif code == cs.OP_CALL:
            called = function.instructions_sx() if called is None else called
            results = _inline(called[k].which_function(), [slot[s] for s in source], nodes)
            slot.update({t: r for t, r in zip(target, results, strict=True) if t >= 0})
        else:
            op = _op(code, function)
            # the target may be one of the sources: read before it is taken
            nodes.append(Node("op", tuple(slot[s] for s in source[: op.arity]), op))
            slot[target[0]] = len(nodes) - 1
    return outputs


def _inline(function: cs.Function, arguments: list[int], nodes: list[Node]) -> list[int]:
    """Append what a called function computes; the nodes of its outputs' elements, one by one."""
    inputs: list[list[int]] = []
    start = 0
    for k in range(function.n_in()):
        count = int(function.nnz_in(k))
        inputs.append(arguments[start : start + count])
        start += count
    outputs = _read(function, inputs, nodes)
    return [
        outputs[k][element]
        for k in range(function.n_out())
        for element in range(int(function.nnz_out(k)))
    ]


def _op(code: int, function: cs.Function) -> Op:
    name = NAMES.get(code, f"number {code}")
    op = OP_TABLE.get(name)
    if op is None:
        reason = REFUSED.get(name, "it is not in the op table (linkwork/compile/optable.py)")
        raise UnsupportedFeatureError(
            f"CasADi operation {name} in function {function.name()!r} cannot be compiled: {reason}"
        )
    return op
