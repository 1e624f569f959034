"""Small traced functions for the tests of the compiler."""

from __future__ import annotations

import casadi as cs
import numpy as np

from linkwork.compile.tracing import Traced, trace_function


def traced(name, sizes, function) -> Traced:
    """Trace ``function(*symbol vectors) -> block`` under one output."""
    return trace_function(name, sizes, lambda *a: {name: function(*a)})


def reference(t: Traced, *arrays) -> np.ndarray:
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
