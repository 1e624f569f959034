"""Damped least squares against NumPy's, and moves that leave the rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops.numpy import NUMPY
from linkwork.solve.damped import Damped
from seeds import rng

SIZES = [(1, 1), (1, 7), (3, 6), (6, 6), (6, 7), (7, 6), (9, 4), (12, 3)]


def damping(squared):
    """What the damping is for a squared error."""
    return 0.1 * min(squared, 20.0) + 1e-11


def made(J, squared):
    return Damped(NUMPY, list(J.T), J.shape[0], np.float64(squared))


def least_squares(J, e, squared):
    """The dx that makes |J dx - e|² + damping |dx|² least, by stacking the damping below J."""
    n = J.shape[1]
    stacked = np.vstack([J, np.sqrt(damping(squared)) * np.eye(n)])
    return np.linalg.lstsq(stacked, np.concatenate([e, np.zeros(n)]), rcond=None)[0]


@pytest.mark.parametrize(("rows", "columns"), SIZES)
@pytest.mark.parametrize("squared", [1e-4, 1.0, 20.0, 1e6])
def test_a_step_is_the_damped_least_squares_solution(rows, columns, squared):
    g = rng(f"damped {rows} {columns} {squared}")
    for _ in range(10):
        J, e = g.normal(size=(rows, columns)), g.normal(size=rows)
        found = np.array(made(J, squared).step(e))
        np.testing.assert_allclose(found, least_squares(J, e, squared), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("wide", [True, False])
def test_both_forms_agree_at_any_rank(wide):
    g = rng("rank")
    shape = (3, 5) if wide else (5, 3)
    for rank in (0, 1, 2):
        J = g.normal(size=(shape[0], rank)) @ g.normal(size=(rank, shape[1]))
        e = g.normal(size=shape[0])
        found = np.array(made(J, 1e-2).step(e))
        np.testing.assert_allclose(found, least_squares(J, e, 1e-2), atol=1e-9)


def test_without_an_error_nothing_moves():
    J = rng("still").normal(size=(6, 7))
    assert not np.any(made(J, 0.0).step(np.zeros(6)))


def test_far_targets_are_not_damped_more_and_more():
    J, e = rng("far").normal(size=(6, 7)), np.ones(6)
    assert made(J, 20.0).step(e) == made(J, 1e9).step(e)


def test_moved_is_the_product():
    g = rng("moved")
    J, dx = g.normal(size=(6, 7)), g.normal(size=7)
    np.testing.assert_allclose(made(J, 1.0).moved(dx), J @ dx, rtol=1e-13)


@pytest.mark.parametrize(("rows", "columns"), [(3, 6), (6, 7), (1, 2)])
def test_what_is_left_alone_does_not_move_the_rows(rows, columns):
    g = rng(f"left alone {rows}")
    for squared in (0.0, 1e-10):
        J, dx = g.normal(size=(rows, columns)), g.normal(size=columns)
        left = np.array(made(J, squared).left_alone(dx))
        assert np.abs(J @ left).max() < 1e-7
        null = np.eye(columns) - np.linalg.pinv(J) @ J
        np.testing.assert_allclose(left, null @ dx, atol=1e-7)


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (9, 4)])
def test_nothing_is_left_where_the_rows_take_all(rows, columns):
    g = rng(f"all {rows}")
    left = made(g.normal(size=(rows, columns)), 0.0).left_alone(g.normal(size=columns))
    assert np.abs(left).max() < 1e-6
