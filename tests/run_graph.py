"""A graph evaluated node by node, for comparing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def run(graph, *inputs):
    """The graph in exact rational arithmetic where it can be, rounded once per node."""
    values = []
    for node in graph.nodes:
        if node.kind == "input":
            value = float(inputs[node.args[0]][node.args[1]])
        elif node.kind == "const":
            value = node.value
        elif node.op is not None:
            value = float(node.op.numpy(*[np.float64(values[a]) for a in node.args]))
        else:
            a, b, c = (Fraction(values[k]) for k in node.args)
            exact = {"fma": a * b + c, "fms": a * b - c, "fnma": c - a * b}[node.kind]
            value = float(exact)
        values.append(value)
    return [
        np.array([values[output[e]] if e in output else 0.0 for e in range(size)])
        for output, size in zip(graph.outputs, graph.output_sizes, strict=True)
    ]
