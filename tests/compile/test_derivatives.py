"""Derivatives of traced functions: of every algorithm, along and backwards, of any order."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import random_inputs, solid, static_of
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.compiler import Compiler
from linkwork.compile.derivatives import along, back, derivative_recipe
from linkwork.compile.differentiable import Differentiable
from linkwork.compile.recipe import algorithm_recipe, recipe_of
from linkwork.compile.tracing import trace, trace_function
from linkwork.errors import UnsupportedFeatureError
from linkwork.mechanism.edit import actuate, close
from linkwork.mechanism.parameters import values
from robots import chain_urdf, every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

FRAME = "hand"
LONG = ("forward_dynamics_derivatives", "inverse_mass_matrix", "inverse_dynamics_derivatives")


@functools.cache
def mechanism(base):
    return mechanism_from(solid(every_joint_urdf()), base=base)


def of_algorithm(name, base):
    m = mechanism(base)
    if ALGORITHMS[name].needs_loops:
        m = actuate(close(m, "camera", "finger_c", "distance", distance=0.1), "elbow")
    return m, static_of(name, m, FRAME)


def numbers(traced, inputs):
    """The outputs end to end, computed by NumPy from the graph."""
    flat = [k for output in traced.outputs for k in output]
    with np.errstate(all="ignore"):
        found = traced.graph.evaluated(traced.order, flat, [list(map(float, a)) for a in inputs])
    return np.array(found, dtype=float)


def assert_derivatives(traced, x, g, within):
    """Along changes: differences; backwards: the same number, weighted."""
    every = range(len(x))
    changes = [g.normal(size=len(a)) for a in x]
    h = 1e-6
    ahead, behind = (
        numbers(traced, [a + sign * h * d for a, d in zip(x, changes, strict=True)])
        for sign in (1.0, -1.0)
    )
    differences = (ahead - behind) / (2 * h)
    scale = max(1.0, float(np.abs(differences).max(initial=0.0)))
    forward = numbers(along(traced, every), [*x, *changes])
    np.testing.assert_allclose(forward, differences, atol=within * scale, rtol=0)
    sizes = traced.signature.output_sizes
    weight = g.normal(size=sum(sizes))
    parts = np.split(weight, np.cumsum(sizes)[:-1])
    backward = numbers(back(traced, every), [*x, *parts])
    total = float(weight @ forward)
    assert abs(backward @ np.concatenate(changes) - total) < 1e-9 * max(1.0, abs(total))


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in ALGORITHMS],
)
def test_of_every_algorithm(name, base):
    m, static = of_algorithm(name, base)
    g = rng(f"derivative of {name} {base}")
    traced = trace(name, m, **static)
    assert_derivatives(traced, random_inputs(name, m, g), g, 1e-6)


@pytest.mark.parametrize("name", ["fk", "gravity_forces", "inverse_dynamics", "com"])
def test_by_parameters(name):
    m, static = of_algorithm(name, "fixed")
    g = rng(f"derivative by parameters {name}")
    parameters = ["xyz:flange", "rpy:shoulder"]
    if name != "fk":
        parameters += ["mass:lower", "com:upper"]
    if name not in ("fk", "com"):
        parameters += ["gravity"]
    traced = trace(name, m, parameters, **static)
    assert_derivatives(traced, [*random_inputs(name, m, g), *values(m, parameters)], g, 1e-6)


@pytest.mark.parametrize("name", ["fk", "inverse_dynamics", "integrate"])
@pytest.mark.parametrize("ways", [(along, along), (along, back), (back, along), (back, back)])
def test_second_derivatives(name, ways):
    m, static = of_algorithm(name, "floating")
    g = rng(f"second derivative {name} {ways[0].__name__}")
    traced = trace(name, m, **static)
    first = ways[0](traced, [0])
    x = [*random_inputs(name, m, g)]
    more = first.signature.input_sizes[len(x) :]
    x += [g.normal(size=size) for size in more]
    assert_derivatives(first, x, g, 2e-5)
    second = ways[1](first, [0])
    assert len(second.order) > 0


def test_operations_at_a_place_where_each_has_a_slope():
    def function(o, x):
        a, b, c = x[0], x[1], x[2]
        return {
            "y": o.vector(
                [
                    a / b, o.sqrt(b), o.sin(a), o.cos(a), o.atan2(a, c), o.absolute(c), o.floor(a),
                    o.minimum(a, b), o.maximum(a, b), o.select(o.less(a, b), a * b, c),
                    -a - b * 3.0, o.select(o.negate(o.both(o.less(a, b), o.less(c, a))), a * c, b),
                ]
            )
        }  # fmt: skip

    traced = trace_function("operations", {"x": 3}, function)
    for x in ([0.3, 1.7, -0.8], [2.2, 0.9, -1.4], [-0.6, 0.2, 0.5]):
        assert_derivatives(traced, [np.array(x)], rng("operations"), 1e-8)


def test_what_is_not_asked_for_costs_nothing():
    m, static = of_algorithm("inverse_dynamics", "fixed")
    traced = trace("inverse_dynamics", m, **static)
    by_all, by_dv = back(traced, [0, 1, 2]), back(traced, [2])
    assert len(by_dv.order) < 0.7 * len(by_all.order)
    assert by_dv.signature.output_names == ("derivative by dv",)


def differentiable(m, name, **static):
    return Differentiable(algorithm_recipe(name, m, **static), Compiler(), most_threads=2)


def test_compiled_rows_are_those_of_the_graph_and_bad_rows_are_marked():
    m, static = of_algorithm("fk", "floating")
    g = rng("compiled derivative")
    function = differentiable(m, "fk", **static)
    derivative = function.derivative("back", [0])
    assert derivative is function.derivative("back", [0])
    assert (function.order, derivative.order) == (0, 1)
    n = 37
    q = np.array([random_configuration(g, m) for _ in range(n)])
    weights = g.normal(size=(n, 16))
    (found,) = derivative(q, weights)
    traced = derivative.recipe.traced()
    for k in (0, 8, n - 1):
        expected = numbers(traced, [q[k], weights[k]])
        np.testing.assert_allclose(found[k], expected, atol=1e-12)
    used = np.flatnonzero(np.abs(found).max(axis=0))[0]
    q[5, used], weights[20, 3] = np.nan, np.inf
    (marked,) = derivative(q, weights)
    good = np.setdiff1d(np.arange(n), [5, 20])
    assert np.isnan(marked[[5, 20]]).all()
    np.testing.assert_array_equal(marked[good], found[good])


def test_threads_and_empty_batches_change_nothing():
    m, static = of_algorithm("fk", "fixed")
    function = differentiable(m, "fk", **static)
    alone = Differentiable(function.recipe, Compiler(), most_threads=1)
    g = rng("threads of a derivative")
    q, w = np.tile(random_configuration(g, m), (20_000, 1)), g.normal(size=(20_000, 16))
    (two,), (one,) = function.derivative("back", [0])(q, w), alone.derivative("back", [0])(q, w)
    np.testing.assert_array_equal(two, one)
    (nothing,) = function.derivative("back", [0])(q[:0], w[:0])
    assert nothing.shape == (0, m.n_q)


def test_loops_over_joints_are_refused_by_name():
    robot = lw.load(chain_urdf(120))
    function = differentiable(robot.mechanism, "fk_all")
    with pytest.raises(UnsupportedFeatureError, match=r"fk_all for chain.*loops over the joints"):
        function.derivative("back", [0])
    traced = trace("fk", mechanism("fixed"), frame=FRAME)
    assert derivative_recipe(recipe_of(traced), "back", [0]).key == ()
