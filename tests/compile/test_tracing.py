"""Traces: names, row-major shapes, shared subexpressions."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork.compile.tracing as tracing
from dynamics_cases import solid
from graph_values import of_graph, of_traced
from linkwork.algorithms.configuration import random
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.registry import ALGORITHMS, evaluate
from linkwork.errors import UnknownNameError
from linkwork.mechanism.edit import actuate, close
from robots import every_joint_urdf, mechanism_from
from seeds import rng
from static_arguments import static_of


def test_matrices_and_lists_are_row_major():
    def text(o, x):
        matrix = o.transpose(o.matrix([o.part(x, 0, 3), o.part(x, 3, 6)]))
        return {"matrix": matrix, "list": [matrix, 2 * matrix], "column": o.matrix([x])}

    t = tracing.trace_function("f", {"x": 6}, text)
    assert t.signature.output_shapes == ((2, 3), (2, 2, 3), (6,))
    values = of_graph(t.graph, t.outputs, [np.arange(6.0)])
    matrix, listed, column = ([values[k] for k in numbers] for numbers in t.outputs)
    assert np.array_equal(matrix, np.arange(6.0))
    assert np.array_equal(listed, [*np.arange(6.0), *2 * np.arange(6.0)])
    assert np.array_equal(column, np.arange(6.0))
    with pytest.raises(ValueError, match="one shape"):
        tracing.trace_function("f", {"x": 6}, lambda o, x: {"list": [x, o.part(x, 0, 2)]})


def test_repeated_work_is_shared_between_outputs():
    def text(o, x):
        return {"a": o.sin(x[0]) * o.sin(x[0]), "b": o.sin(x[0]) + x[1]}

    t = tracing.trace_function("f", {"x": 2}, text)
    assert [t.graph.operations[k] for k in t.order].count("SIN") == 1
    assert t.signature.output_names == ("a", "b")


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_traces_to_its_stated_shape_and_values(name):
    m = mechanism_from(solid(every_joint_urdf()))
    entry = ALGORITHMS[name]
    if entry.needs_loops:
        m = actuate(close(m, "camera", "finger_c", "distance", distance=0.1), "elbow")
    static = static_of(name, m, m.frame_names[-1])
    t = tracing.trace(name, m, **static)
    assert t.signature.output_shapes == (entry.output(m),)
    g = rng(f"trace {name}")
    arrays = [
        random(m, g, 1)[0] if kind == "q" else g.normal(size=m.n_v) for _, kind in entry.inputs
    ]
    (traced,) = of_traced(t, *(array[None] for array in arrays))
    expected = evaluate(name, m, *arrays, **static)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    within = 1e-9 if check_movable in entry.needs else 1e-13  # of what divides by masses
    np.testing.assert_allclose(traced, expected, rtol=0, atol=within * scale)


def test_an_algorithm_that_does_not_exist():
    with pytest.raises(UnknownNameError, match="jacobian"):
        tracing.trace("jacobien", mechanism_from(every_joint_urdf()))
