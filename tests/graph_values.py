"""Graphs computed operation by operation in NumPy, each rounded once as plain C does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from linkwork.compile.graph import Graph
from linkwork.compile.optable import OP_TABLE
from linkwork.compile.tracing import Traced
from linkwork.ops.graph import ZERO, ExpressionGraph

Step = tuple[int, str, tuple[int, ...], Any]
"""A number's place, its operation, the places of its arguments, and its value if it is constant."""


def _exact(rule: Callable[..., Fraction]) -> Callable[..., Any]:
    return np.vectorize(lambda *x: float(rule(*map(Fraction, x))), otypes=[np.float64])


FUSED = {
    "FMA": _exact(lambda a, b, c: a * b + c),
    "FMS": _exact(lambda a, b, c: a * b - c),
    "FNMA": _exact(lambda a, b, c: c - a * b),
}
LIBM = {
    "SIN": np.vectorize(math.sin), "COS": np.vectorize(math.cos), "ATAN2": np.vectorize(math.atan2),
}  # fmt: skip
"""Functions that NumPy rounds otherwise than the C library."""


def computed(steps: Iterable[Step], inputs: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    """The values of all steps; element k of an input is ``inputs[which][..., k]``."""
    values: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for k, name, own, value in steps:
            if name == "INPUT":
                values[k] = np.asarray(inputs[own[0]], dtype=np.float64)[..., own[1]]
            elif name == "CONST":
                values[k] = np.float64(value)
            else:
                compute = FUSED.get(name) or LIBM.get(name) or OP_TABLE[name].numpy
                values[k] = np.asarray(compute(*[values[a] for a in own]), dtype=np.float64)
    return values


def of_graph(
    graph: ExpressionGraph, outputs: Sequence[Sequence[int]], inputs: Sequence[np.ndarray]
) -> dict[int, np.ndarray]:
    """The values of what outputs are made of."""
    order = [ZERO, *(k for k in graph.needed(outputs) if k != ZERO)]
    return computed(
        ((k, graph.operations[k], graph.arguments[k], graph.values[k]) for k in order), inputs
    )


def of_traced(t: Traced, *rows: np.ndarray) -> np.ndarray:
    """The first output (n, ...) on rows of inputs."""
    values = of_graph(t.graph, t.outputs, rows)
    found = np.zeros((len(rows[0]), len(t.outputs[0])))
    for element, k in enumerate(t.outputs[0]):
        found[:, element] = values[k]
    return found.reshape(len(rows[0]), *t.signature.output_shapes[0])


def of_assignments(graph: Graph, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of a graph of assignments, multiply-adds rounded once."""
    steps = (
        (k, (node.op.name if node.op else node.kind).upper(), node.args, node.value)
        for k, node in enumerate(graph.nodes)
    )
    values = computed(steps, inputs)
    return [
        np.array([values[output[e]] if e in output else 0.0 for e in range(size)])
        for output, size in zip(graph.outputs, graph.output_sizes, strict=True)
    ]
