"""Functions as data: the same values and slopes as the function, and nothing it cannot hold."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.mechanism.expressions import Expression, affine, checked, traced
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from seeds import rng

FUNCTIONS = {
    "affine": (lambda a, b: 3 * a - b / 4 + 1, 2),
    "powers": (lambda a, b: a**3 - 2 / b**2 + (a * a + 1) ** 0.5 + (b + 3) ** -1.5 + a**0, 2),
    "turns": (lambda a, b: np.sin(a) * np.cos(b) + np.tan(0.3 * a), 2),
    "inverse": (
        lambda a, b: np.arcsin(0.3 * a) + np.arccos(0.2 * b) + np.arctan(a) + np.arctan2(a, b),
        2,
    ),
    "lengths": (lambda a, b: np.hypot(a, b + 2) - np.sqrt(4 + a) + np.square(b), 2),
    "degrees": (lambda a: np.rad2deg(np.deg2rad(a)) + np.radians(-(+a)), 1),
    "one of three": (lambda a, b, c: 2.0 - b, 3),
    "constant": (lambda a: 2.5, 1),
    "numpy's numbers": (lambda a: np.float64(2.0) * a + np.multiply(a, np.int64(3)), 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_the_functions(name):
    function, n = FUNCTIONS[name]
    expression = traced(function, n)
    for x in rng(f"expression {name}").uniform(-1.5, 1.5, (20, n)):
        value, slopes = expression.value_and_slopes(NUMPY, list(x))
        assert float(value) == pytest.approx(float(function(*x)), abs=1e-14)
        assert float(expression.value(NUMPY, list(x))) == float(value)
        for k, slope in enumerate(slopes):
            step = 1e-6 * np.eye(n)[k]
            expected = (function(*(x + step)) - function(*(x - step))) / 2e-6
            assert float(slope) == pytest.approx(float(expected), rel=1e-6, abs=1e-7)
        o = GraphOps()
        graph, _ = expression.value_and_slopes(o, [o.const(v) for v in x])
        assert o.graph.values[graph.numbers[0]] == pytest.approx(float(value), abs=1e-14)


def test_it_is_its_operations():
    a, b = (traced(lambda x, y: np.sin(x) * y + 1.0, 2) for _ in range(2))
    assert a == b and hash(a) == hash(b) and pickle.loads(pickle.dumps(a)) == a
    assert a != traced(lambda x, y: np.sin(y) * x + 1.0, 2)
    assert repr(a) == repr(b)
    assert checked(a.n_inputs, a.nodes) == a


def test_what_is_not_needed_is_left_out():
    def wasteful(x):
        np.sin(x) * 7
        return x + 1

    assert len(traced(wasteful, 1).nodes) == 3
    assert len(traced(lambda x: np.sin(x) * np.sin(x), 1).nodes) == 3  # computed once


def test_an_input_becomes_a_constant():
    whole = traced(lambda a, b, c: a - 2 * b * c, 3)
    part = whole.with_input(1, 0.5)
    assert part.n_inputs == 2
    assert float(part.value(NUMPY, [1.0, 3.0])) == float(whole.value(NUMPY, [1.0, 0.5, 3.0]))


def test_rates():
    assert float(affine([2.0, -1.0], 0.25).value(NUMPY, [1.0, 3.0])) == -0.75
    assert float(affine([2.0]).value(NUMPY, [1.5])) == 3.0
    with pytest.raises(InputError, match="finite"):
        affine([math.nan])


def _branches(x):
    return x if x > 0 else -x


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: "no", InputError, "must give one number, not 'no'"),
        (lambda x: [x, x], InputError, "one number"),
        (_branches, InputError, "branch"),
        (lambda x: x if x else 0.0, InputError, "branch .* by if"),
        (lambda x: 1.0 if x == 0 else x, InputError, "branch .* by =="),
        (lambda x: x if x != 0.5 else 1.0, InputError, "branch .* by !="),
        (lambda x: 1.0 if x in (0.0, 1.0) else x, InputError, "branch .* by == or in"),
        (lambda x: 1.0 if x in {0.0, 1.0} else x, InputError, "branch .* by a set"),
        (lambda x: {0.0: 1.0}.get(x, x), InputError, "branch .* by a set or a dict"),
        (lambda x: 1.0 if np.float64(0.5) == x else x, UnsupportedFeatureError, "numpy.equal"),
        (lambda x: 1.0 if 0 == x else x, InputError, "branch"),
        (lambda x: x if x >= 1 else -x, InputError, "branch .* by >="),
        (math.sin, InputError, r"np.sin, not math.sin"),
        (np.exp, UnsupportedFeatureError, r"not numpy.exp"),
        (lambda x: np.maximum(x, 0), UnsupportedFeatureError, r"not numpy.maximum"),
        (lambda x: x**0.3, UnsupportedFeatureError, "whole powers and halves"),
        (lambda x: x**x, UnsupportedFeatureError, "constant powers"),
        (lambda x: x + "1", InputError, "works on numbers"),
        (lambda x: x * math.inf, InputError, "the constant inf"),
        (lambda x: np.sin(x, out=np.zeros(1)), UnsupportedFeatureError, "may use"),
    ],
)
def test_functions_that_cannot_be_kept(function, error, message):
    with pytest.raises(error, match=message):
        traced(function, 1)


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [("input", (1.0,))],
        [("input", (0.5,))],
        [("sin", (0.0,))],
        [("input", (0.0,)), ("add", (0.0,))],
        [("input", (0.0,)), ("glue", (0.0,))],
        [("constant", (math.inf,))],
        [("input", (0.0,)), ("sin", (-1.0,))],
    ],
)
def test_nodes_that_are_none(nodes):
    with pytest.raises(InputError):
        checked(1, nodes)
    assert isinstance(checked(1, [("input", (0.0,))]), Expression)
