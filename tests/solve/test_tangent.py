"""Moves of positions: what they do to joints, how long they are, and differences along them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.configuration import random
from linkwork.solve.problem import make_problem
from linkwork.solve.tangent import Tangent
from linkwork.solve.tasks.pose import Pose
from robots import every_joint_urdf, mechanism_from
from seeds import rng


def problem_of(name: str):
    m = lw.load(name).mechanism if name != "every joint" else mechanism_from(every_joint_urdf())
    return make_problem(m, Pose(m.frame_names[-1]))


@pytest.mark.parametrize("name", ["ur5e", "mobile_arm", "every joint"])
def test_a_move_is_as_long_as_it_says_and_comes_back(name: str):
    problem = problem_of(name)
    tangent, g = Tangent(problem), rng(f"moves {name}")
    x = random(problem.mechanism, g, 50)[:, list(problem.moved)]
    moves = 1e-4 * g.normal(size=(50, len(tangent.unit)))
    there = tangent.moved(x, moves)
    length = np.linalg.norm(moves, axis=1)
    np.testing.assert_allclose(tangent.apart(there, x), length, rtol=1e-6)
    np.testing.assert_allclose(tangent.apart(tangent.moved(there, -moves), x), 0.0, atol=1e-7)
    for at, _ in tangent.quaternions:
        norms = np.linalg.norm(there[:, at : at + 4], axis=1)
        np.testing.assert_allclose(norms, 1.0, rtol=0, atol=1e-14)


def test_room_ends_at_the_limits():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("room")
    x = random(problem.mechanism, g, 20)
    lower, upper = tangent.room(x)
    m = problem.mechanism
    np.testing.assert_allclose(tangent.moved(x, lower), np.tile(m.lower, (20, 1)), atol=1e-12)
    np.testing.assert_allclose(tangent.moved(x, upper), np.tile(m.upper, (20, 1)), atol=1e-12)


def test_slope_and_bend_of_a_quadratic_score():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("bend")
    n = len(tangent.unit)
    A, b, x = g.normal(size=(n, n)), g.normal(size=n), g.normal(size=(5, n))
    H = A + A.T

    def score(points, m):
        assert len(points) == 5 * m
        return 0.5 * np.einsum("ki,ij,kj->k", points, H, points) + points @ b

    slope, bend = tangent.slope_and_bend(score, x)
    np.testing.assert_allclose(slope, (x @ H + b) * tangent.unit, atol=1e-9)
    scaled = H * np.outer(tangent.unit, tangent.unit)
    np.testing.assert_allclose(bend, np.tile(scaled, (5, 1, 1)), atol=1e-6)
