"""Vectors as lists of numbers: what they compute, and what costs nothing."""

from __future__ import annotations

import casadi as cs
import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.axes import is_all_zero
from linkwork.algorithms.triples import (
    applied,
    cross,
    dot,
    flipped,
    less,
    minus,
    negated,
    plus,
    plus_applied,
    plus_cross,
    rows_of,
    scaled,
    times,
    total,
    zeros,
)
from seeds import rng


def test_numpy():
    random = rng("triples")
    a, b, c = random.normal(size=(3, 3))
    A = random.normal(size=(3, 3))
    near(cross(a, b), np.cross(a, b))
    near(plus_cross(c, a, b), c + np.cross(a, b))
    near(applied(A.tolist(), a), A @ a)
    near(plus_applied(c, A.tolist(), a), c + A @ a)
    near(dot(a, b), a @ b)
    near(plus(a, b), a + b)
    near(minus(a, b), a - b)
    near(scaled(2.0, a), 2 * a)
    near(total(list(a)), a.sum())
    near(flipped(A.tolist()), A.T)
    near(rows_of(A), A)
    near(rows_of(A.tolist()), A)
    assert (zeros(), total([])) == ([0.0, 0.0, 0.0], 0.0)


def test_constants_cost_nothing():
    x = cs.SX.sym("x")
    assert times(0.0, x) == 0.0 and times(x, 0.0) == 0.0
    assert times(1.0, x) is x and times(x, 1.0) is x
    for product in (times(-1.0, x), times(x, -1.0), negated(x), less(0.0, x)):
        assert cs.is_equal(product, -x, 1)
    assert less(x, 0.0) is x and negated(0.0) == 0.0
    assert is_all_zero(cross([0.0, 0.0, x], [0.0, 0.0, x]))
    assert not is_all_zero([0.0, x, 0.0])


def test_sums_are_fused():
    # start + a x b leaves no product without a sum
    s = [cs.SX.sym(n, 3) for n in "abc"]
    a, b, c = ([v[k] for k in range(3)] for v in s)
    f = cs.Function("f", s, plus_cross(c, a, b))
    names = [f.instruction_id(k) for k in range(f.n_instructions())]
    assert names.count(cs.OP_MUL) == names.count(cs.OP_ADD) + names.count(cs.OP_SUB) == 6
