"""Numbers, vectors and matrices as lists: what they compute, and what costs nothing."""

from __future__ import annotations

import itertools

import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.vector3 import (
    applied,
    as_vector,
    cross,
    dot,
    is_signed_permutation,
    less,
    minus,
    negated,
    plus,
    plus_applied,
    plus_cross,
    product,
    rows_of,
    scaled,
    symmetric,
    times,
    total,
    transposed,
    zeros,
)
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from seeds import rng


def test_numpy():
    random = rng("vector3")
    a, b, c = random.normal(size=(3, 3))
    A, B = random.normal(size=(2, 3, 3))
    near(cross(a, b), np.cross(a, b))
    near(plus_cross(c, a, b), c + np.cross(a, b))
    near(applied(A.tolist(), a), A @ a)
    near(plus_applied(c, A.tolist(), a), c + A @ a)
    near(product(A.tolist(), B.tolist()), A @ B)
    near(dot(a, b), a @ b)
    near(plus(a, b), a + b)
    near(minus(a, b), a - b)
    near(scaled(2.0, a), 2 * a)
    near(total(list(a)), a.sum())
    near(transposed(A.tolist()), A.T)
    near(rows_of(A), A)
    near(rows_of(A.tolist()), A)
    S = A + A.T
    near(symmetric([S[i, j] for i, j in itertools.combinations_with_replacement(range(3), 2)]), S)
    assert (zeros(), total([])) == ([0.0, 0.0, 0.0], 0.0)
    assert as_vector(NUMPY, []).shape == (0,) and as_vector(NUMPY, a).tolist() == a.tolist()


def test_constants_cost_nothing():
    x = GraphOps().input(0, 1)[0]
    assert times(0.0, x) == 0.0 and times(x, 0.0) == 0.0
    assert times(1.0, x) is x and times(x, 1.0) is x
    (minus_x,) = (-x).numbers
    for found in (times(-1.0, x), times(x, -1.0), negated(x), less(0.0, x)):
        assert found.numbers == [minus_x]
    assert less(x, 0.0) is x and negated(0.0) == 0.0
    assert cross([0.0, 0.0, x], [0.0, 0.0, x]) == [0.0, 0.0, 0.0]


def test_sums_are_fused():
    # start + a x b leaves no product without a sum
    o = GraphOps()
    a, b, c = ([v[k] for k in range(3)] for v in (o.input(k, 3) for k in range(3)))
    found = plus_cross(c, a, b)
    numbers = o.graph.needed([[each.numbers[0] for each in found]])
    names = [o.graph.operations[k] for k in numbers]
    assert names.count("MUL") == names.count("ADD") + names.count("SUB") == 6


def test_24_turns_permute_axes():
    found = [
        np.eye(3)[list(order)] * np.array(signs)
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    assert all(is_signed_permutation(R.tolist()) for R in found)
    assert sum(np.linalg.det(R) > 0 for R in found) == 24
    for other in (np.eye(3) * [1, 1, 0.5], np.eye(3) + 1e-16, np.full((3, 3), np.nan)):
        assert not is_signed_permutation(other.tolist())
    assert not is_signed_permutation(rows_of(np.eye(3)))  # a block, whatever its value
