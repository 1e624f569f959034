"""The expression graph: nothing twice, constants folded, zeros that vanish, order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graph_values import of_graph
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.ops.dual import Duals
from linkwork.ops.graph import ONE, ZERO, ExpressionGraph, GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import poses, rotations
from seeds import rng

BINARY = ("ADD", "SUB", "MUL", "DIV")


def test_what_is_asked_for_again_is_what_is_there():
    g = ExpressionGraph()
    x, y = g.input(0, 0), g.input(0, 1)
    for name in BINARY:
        assert g.apply(name, x, y) == g.apply(name, x, y)
    assert g.apply("SIN", x) == g.apply("SIN", g.add(x, ZERO))
    assert g.add(x, y) == g.add(y, x)
    assert g.multiply(x, y) == g.multiply(y, x)
    assert g.subtract(y, x) == g.negative(g.subtract(x, y))
    size = len(g)
    g.add(y, x), g.apply("SIN", x), g.input(0, 1), g.constant(1.0)
    assert len(g) == size


def test_zeros_and_ones_cost_nothing():
    g = ExpressionGraph()
    x = g.input(0, 0)
    size = len(g)
    assert [g.multiply(x, ZERO), g.divide(ZERO, x), g.subtract(x, x), g.negative(ZERO)] == [0] * 4
    assert g.divide(x, x) == ONE
    assert {g.multiply(ONE, x), g.divide(x, ONE), g.add(ZERO, x), g.subtract(x, ZERO)} == {x}
    assert g.only_where(x, ZERO) == ZERO and g.only_where(ONE, x) == x
    assert len(g) == size
    assert g.negative(g.negative(x)) == x
    assert g.constant(-0.0) == ZERO


def test_constants_fold_and_keep_their_bits():
    g = ExpressionGraph()
    for value in (5e-324, math.inf, -math.inf, math.nan, 1 / 3, 1.7976931348623157e308):
        assert np.float64(g.values[g.constant(value)]).tobytes() == np.float64(value).tobytes()
        assert g.constant(value) == g.constant(value)
    a, b = g.constant(0.1), g.constant(0.7)
    for name, expected in (("ADD", 0.1 + 0.7), ("SUB", 0.1 - 0.7), ("MUL", 0.1 * 0.7)):
        assert g.values[g.apply(name, a, b)] == expected
    assert g.values[g.apply("DIV", a, ZERO)] == math.inf
    assert math.isnan(g.values[g.apply("DIV", ZERO, ZERO)])
    assert math.isnan(g.values[g.apply("SQRT", g.constant(-1.0))])
    assert g.values[g.apply("LT", a, b)] == 1.0


def test_what_is_simplified_has_the_value_of_what_was_asked_for():
    random = rng("expressions")
    for _ in range(200):
        g = ExpressionGraph()
        x = random.normal(size=4)
        known = [(g.input(0, k), x[k]) for k in range(4)]
        known += [(g.constant(c), c) for c in (0.0, 1.0, -1.0, 2.0, 0.5, -3.7)]
        for _ in range(40):
            (a, u), (b, v) = (known[k] for k in random.integers(len(known), size=2))
            name = BINARY[random.integers(4)] if random.random() < 0.8 else "NEG"
            if name == "DIV" and abs(v) < 1e-3:
                continue
            made = g.apply(name, a) if name == "NEG" else g.apply(name, a, b)
            plain = {"ADD": u + v, "SUB": u - v, "MUL": u * v, "NEG": -u}
            value = u / v if name == "DIV" else plain[name]
            if abs(value) < 1e6:
                known.append((made, value))
        numbers = [k for k, _ in known]
        values = of_graph(g, [numbers], [x])
        found = [values[k] for k in numbers]
        np.testing.assert_allclose(found, [value for _, value in known], rtol=1e-9, atol=1e-6)


def test_what_is_needed_comes_in_order_and_nothing_else():
    g = ExpressionGraph()
    x, y = g.input(0, 0), g.input(0, 1)
    unused = g.apply("SIN", y)
    product = g.multiply(x, g.constant(3.0))
    order = g.needed([[ZERO, product], [g.add(product, x)]])
    assert unused not in order and ZERO not in order and y not in order
    assert len(order) == len(set(order)) == 4
    for place, k in enumerate(order):
        if g.operations[k] != "INPUT":
            assert all(order.index(a) < place for a in g.arguments[k])


def test_long_chains_need_no_recursion():
    g = ExpressionGraph()
    at = g.input(0, 0)
    for _ in range(100_000):
        at = g.apply("SIN", at)
    assert len(g.needed([[at]])) == 100_001


def test_blocks_beside_numbers_arrays_and_dual_numbers():
    o = GraphOps()
    x = o.input(0, 3)
    assert (2.0 * x).shape == (3,) and (np.float64(2.0) * x).shape == (3,)
    assert (np.eye(3) @ x).numbers == x.numbers
    assert (np.ones(3) * x).numbers == x.numbers
    duals = Duals(o)
    moving = duals.block(x, {0: o.const([1.0, 0.0, 0.0])})
    product = x[0] * duals.block(x[1], {0: o.const(1.0)})
    assert duals.change(product, 0).numbers == x[0].numbers
    assert duals.change(x + moving, 0).numbers == [ONE, ZERO, ZERO]


def test_what_does_not_go_together_is_refused():
    o = GraphOps()
    x = o.input(0, 3)
    with pytest.raises(ValueError, match=r"\(3,\) and \(2,\)"):
        x + o.part(x, 0, 2)
    with pytest.raises(ValueError, match="no product"):
        o.const(np.eye(2)) @ x
    with pytest.raises(IndexError, match="no element 3 among 3"):
        x[3]
    assert x[-1].numbers == [x.numbers[2]]
    assert NUMPY.name != o.name


def made_by(o, *blocks):
    """The operations that blocks are made by."""
    order = o.graph.needed([o.const(block).numbers for block in blocks])
    return [o.graph.operations[k] for k in order if o.graph.operations[k] not in ("INPUT", "CONST")]


def test_products_with_exact_placements_cost_nothing():
    o = GraphOps()
    q = o.input(0, 3)
    assert made_by(o, o.const(np.eye(3)) @ q, o.dot(o.const([0, 0, 1]), q)) == []
    assert made_by(o, o.outer(o.const([0, 1, 0]), q), 1.0 * q[0] + 0.0 * q[1]) == []
    assert made_by(o, o.cross(o.const([0, 0, 1]), q)) == ["NEG"]
    turn = rotations.rotation_z(o, q[0])
    quarter = o.const([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # it only moves entries
    assert sorted(made_by(o, quarter @ turn)) == sorted(made_by(o, turn)) == ["COS", "NEG", "SIN"]
    assert made_by(o, poses.compose(o, poses.identity(o), poses.Pose(turn, q)).p) == []
    assert made_by(o, o.select(o.less(o.const(0.0), 1.0), q[0], q[0] * q[1])) == []


def test_the_unused_side_of_a_choice_may_be_infinite():
    o = GraphOps()
    x = o.input(0, 1)[0]
    sides = [o.select(o.less(x, 0.0), 1.0, 1.0 / x), o.select(o.less(0.0, x), o.sqrt(x), 2.0)]
    numbers = [each.numbers[0] for each in sides]
    at_zero, below = (of_graph(o.graph, [numbers], [np.array([x])]) for x in (0.0, -1.0))
    assert below[numbers[0]] == 1.0 and below[numbers[1]] == at_zero[numbers[1]] == 2.0


def test_functions_of_numpy_by_element():
    o = GraphOps()
    x = o.input(0, 3)
    at = np.array([0.3, -0.2, 0.6])
    for function in (np.sin, np.arccos, np.tan, np.deg2rad, np.reciprocal, np.negative, np.square):
        found = function(x)
        values = of_graph(o.graph, [found.numbers], [at])
        np.testing.assert_allclose([values[k] for k in found.numbers], function(at), rtol=1e-15)
    assert np.hypot(x, 2.0).shape == np.arctan2(1.0, x).shape == (x**-1.5).shape == (3,)
    assert (np.add(at, x).numbers, np.matmul(np.eye(3), x).numbers) == ((x + at).numbers, x.numbers)
    assert (x**2).numbers == (x * x).numbers and (+x).numbers == x.numbers
    assert o.graph.values[(x[0] ** 0).numbers[0]] == 1.0


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (np.exp, UnsupportedFeatureError, "not numpy.exp"),
        (np.sum, UnsupportedFeatureError, "not numpy.add.reduce"),
        (lambda x: np.where(x > 0, x, 0), InputError, "branch on its numbers, as it does by >"),
        (lambda x: 2.0 ** x[0], TypeError, "unsupported operand"),
        (lambda x: np.power(2.0, x), UnsupportedFeatureError, "constant powers only"),
        (lambda x: x**65, UnsupportedFeatureError, "up to 64"),
        (lambda x: {x: 1}, InputError, "by a set or a dict"),
        (lambda x: math.sin(x[0]), InputError, "np.sin, not math.sin"),
    ],
)
def test_what_cannot_be_traced_is_refused_by_name(use, error, message):
    with pytest.raises(error, match=message):
        use(GraphOps().input(0, 2))
