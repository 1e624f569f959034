"""CasADi's functions as single assignments: calls in their place, refusals by name."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.graph import graph_of
from linkwork.errors import UnsupportedFeatureError
from run_graph import run
from seeds import rng


def calls_others():
    """A function that calls two, one of them twice and not with all its results."""
    x, y = cs.SX.sym("x"), cs.SX.sym("y", 2)
    options = {"never_inline": True}
    inner = cs.Function("inner", [x], [cs.cos(x) * 3], options)
    results = [cs.sin(y) * x, inner(x) * 2]
    outer = cs.Function("outer", [y, x], results, options)
    first = outer(cs.vertcat(x + 1, cs.DM(3)), inner(x))
    second = outer(y, x)
    return cs.Function("f", [x, y], [first[0][0] + first[1], second[0]])


def test_called_functions_are_read_in_their_place():
    f = calls_others()
    assert cs.OP_CALL in [f.instruction_id(k) for k in range(f.n_instructions())]
    graph = graph_of(f, fuse=False)
    g = rng("calls")
    for _ in range(20):
        x, y = g.normal(size=1), g.normal(size=2)
        expected = [np.array(v).ravel() for v in f(x, y)]
        for found, wanted in zip(run(graph, x, y), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_sparse_arguments_of_called_functions():
    pattern = cs.Sparsity.triplet(3, 1, [0, 2], [0, 0])
    s = cs.SX.sym("s", pattern)
    inner = cs.Function("inner", [s], [cs.densify(s) * 2, s * 5], {"never_inline": True})
    x = cs.SX.sym("x", 3)
    f = cs.Function("f", [x], list(inner(cs.project(x, pattern))))
    graph = graph_of(f, fuse=True)
    first, second = run(graph, [1.0, 7.0, 3.0])
    assert np.array_equal(first, [2.0, 0.0, 6.0])
    assert np.array_equal(second, [5.0, 0.0, 15.0])


def test_a_function_of_matrices_is_refused_with_the_way_out():
    a = cs.MX.sym("a", 2)
    f = cs.Function("matrices", [a], [cs.sum1(a)])
    with pytest.raises(UnsupportedFeatureError, match=r"'matrices' is a MXFunction.*expand\(\)"):
        graph_of(f, fuse=True)
    assert graph_of(f.expand(), fuse=True).nodes


def test_results_that_overwrite_their_sources():
    """CasADi reuses a slot as soon as its value is read for the last time."""
    x = cs.SX.sym("x", 2)
    value = x[0]
    for k in range(5):
        value = cs.sin(value) + k * x[1]
    f = cs.Function("f", [x], [value])
    np.testing.assert_allclose(
        run(graph_of(f, fuse=False), [0.3, 0.7])[0], np.array(f([0.3, 0.7])).ravel(), rtol=1e-15
    )


def test_lifted_values_are_the_values():
    x = cs.SX.sym("x", 2)
    f = cs.Function("f", [x], [cs.SX.binary(cs.OP_LIFT, x[0] * 2, x[1]) + 1])
    graph = graph_of(f, fuse=False)
    assert run(graph, [3.0, 100.0])[0][0] == 7.0


def test_constants_keep_their_bits():
    x = cs.SX.sym("x")
    values = [-0.0, 5e-324, np.inf, -np.inf, np.nan, 1 / 3, 1.7976931348623157e308]
    f = cs.Function("f", [x], [cs.vertcat(*[cs.SX(v) for v in values])])
    nodes, output = graph_of(f, fuse=True).nodes, graph_of(f, fuse=True).outputs[0]
    found = np.array([nodes[output[k]].value if k in output else 0.0 for k in range(len(values))])
    wanted = np.array(values)
    assert np.array_equal(found[1:], wanted[1:], equal_nan=True)
