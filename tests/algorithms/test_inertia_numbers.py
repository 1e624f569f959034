"""Six numbers of an inertia: against matrices, constants kept as constants, on all back ends."""

from __future__ import annotations

import numpy as np
import pytest

from backends import PRECISE, run
from linkwork.algorithms.inertia_numbers import PLACES, matrix, of_point, turned
from robots import about
from seeds import rng


def six(A: np.ndarray) -> list[float]:
    return [float(A[i, j]) for i, j in PLACES]


def test_the_places_are_the_upper_triangle():
    assert PLACES == tuple(zip(*(k.tolist() for k in np.triu_indices(3)), strict=True))


def test_constants_stay_constants():
    c = [0.3, 0.0, -0.7]
    got = of_point(2.0, c)
    expected = 2.0 * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(got, six(expected), rtol=0, atol=1e-15)
    assert all(type(x) is float for x in got) and got[1] == 0
    assert of_point(0.0, [1.0, 2.0, 3.0]) == [0.0] * 6
    R = about(np.array([0.6, 0, 0.8]), 0.4)
    A = rng("turned").normal(size=(3, 3))
    A = A @ A.T
    got = turned(R.tolist(), six(A))
    assert all(type(x) is float for x in got)
    np.testing.assert_allclose(got, six(R @ A @ R.T), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(matrix(six(A)), A)


@pytest.mark.parametrize("backend", PRECISE)
def test_blocks(backend: str):
    random = rng("inertia blocks")
    R, p, mass = about(np.array([0, 0.6, 0.8]), 1.1), random.normal(size=3), np.array([1.7])
    A = random.normal(size=(3, 3))
    A = A + A.T

    def both(o, R, p, mass, numbers):
        at = of_point(mass[0], [p[0], p[1], p[2]])
        return o.vector([*at, *turned(R, [numbers[k] for k in range(6)])])

    got = run(backend, both, R, p, mass, np.array(six(A)))
    point = mass[0] * (p @ p * np.eye(3) - np.outer(p, p))
    np.testing.assert_allclose(got, [*six(point), *six(R @ A @ R.T)], rtol=0, atol=1e-14)
