"""Least squares: factors, damping, elimination and the least norm, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.least_squares import Elimination, damped, factors, least_norm, solve_factored
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Closed, Pose
from seeds import rng


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lower = [[a[i, j] for j in range(i + 1)] for i in range(len(b))]
    return solve_factored(NUMPY, factors(lower), b)


@pytest.mark.parametrize("n", [1, 2, 6, 9])
@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_agrees_with_a_dense_solver(n, spread):
    g = rng(f"linear {n} {spread}")
    for _ in range(20):
        basis = np.linalg.qr(g.normal(size=(n, n)))[0]
        a = basis @ np.diag(10.0 ** g.uniform(-spread, 0, n)) @ basis.T
        a = (a + a.T) / 2
        b = g.normal(size=n)
        x = solve(a, b)
        assert np.linalg.norm(a @ x - b) <= 1e-13 * np.linalg.norm(x)


SIZES = [(1, 1), (1, 7), (3, 6), (6, 6), (6, 7), (7, 6), (9, 4), (12, 3)]


def damping(squared):
    """What the damping is for a squared error."""
    return 0.1 * min(squared, 20.0) + 1e-11


def made(J, squared):
    return damped(NUMPY, list(J.T), J.shape[0], np.float64(squared))


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


def test_far_targets_are_not_damped_more_and_more():
    J, e = rng("far").normal(size=(6, 7)), np.ones(6)
    assert made(J, 20.0).step(e) == made(J, 1e9).step(e)


@pytest.mark.parametrize(("rows", "columns"), [(3, 6), (6, 7), (1, 2)])
def test_what_is_left_alone_does_not_move_the_rows(rows, columns):
    g = rng(f"left alone {rows}")
    for squared in (0.0, 1e-10):
        J, dx = g.normal(size=(rows, columns)), g.normal(size=columns)
        left = np.array(made(J, squared).left_alone(dx))
        assert np.abs(J @ left).max() < 1e-7
        null = np.eye(columns) - np.linalg.pinv(J) @ J
        np.testing.assert_allclose(left, null @ dx, atol=1e-7)


@pytest.mark.parametrize("shape", [(6, 6), (4, 7), (9, 5)])
def test_any_form_and_order_gives_the_same_step(shape):
    g = rng(f"orders {shape}")
    J, e = g.normal(size=shape), g.normal(size=shape[0])
    plain = damped(NUMPY, list(J.T), shape[0], np.float64(0.5)).step(e)
    for dual in (True, False):
        order = tuple(g.permutation(shape[0] if dual else shape[1]).tolist())
        by = Elimination(dual, order)
        found = damped(NUMPY, list(J.T), shape[0], np.float64(0.5), by=by).step(e)
        np.testing.assert_allclose(found, plain, atol=1e-9)


def test_legs_go_before_the_platform():
    m = lw.load("stewart").mechanism
    passive = [name for name in m.joint_names if not name.startswith("slide")]
    problem = make_problem(m, Closed(), joints=passive)
    found = problem.elimination(problem.levels[0])
    assert found is not None and not found.dual
    assert sorted(found.order) == list(range(18))
    platform = {k for k, v in enumerate(problem.moved_v) if v < 6}
    assert platform.isdisjoint(found.order[:10])


def test_other_tasks_beside_it_are_whole_blocks():
    m = lw.load("five_bar").mechanism
    problem = make_problem(m, [Closed(), Pose("tool0", position="xy", rotation="")])
    found = problem.elimination(problem.levels[0])
    assert found is not None
    assert len(found.order) == (7 if found.dual else 4)


SHAPES = [(6, 1), (6, 3), (6, 6), (6, 7), (6, 12), (1, 1), (1, 4), (3, 2)]


def solved(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float, float]:
    x, bound, share = least_norm(NUMPY, a.tolist(), b.tolist())
    return np.array(x), float(bound), float(share)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_pseudo_inverse(shape: tuple[int, int]):
    random = rng(f"least norm {shape}")
    for _ in range(50):
        a, b = random.normal(size=shape), random.normal(size=shape[0])
        x, bound, share = solved(a, b)
        s = np.linalg.svd(a, compute_uv=False)
        off = np.abs(x - np.linalg.pinv(a) @ b).max() / np.abs(x).max()
        assert off < 1e-14 * (s[0] / s[-1]) ** 1.5 + 1e-13
        assert s[-1] / np.sqrt(min(shape)) * (1 - 1e-9) <= bound <= s[-1] * (1 + 1e-9)
        assert share == pytest.approx(bound / np.linalg.norm(a), rel=1e-12)


def test_as_far_as_the_face_goes_it_loses_three_digits():
    random = rng("least norm, badly conditioned")
    for n in (6, 7, 8):
        for _ in range(100):
            u, _ = np.linalg.qr(random.normal(size=(6, 6)))
            v, _ = np.linalg.qr(random.normal(size=(n, 6)))
            a = u @ np.diag([2.0, 1.0, 1.0, 0.5, 0.1, 4e-3]) @ v.T
            b = random.normal(size=6)
            x, _, share = solved(a, b)
            assert share > 1e-3
            assert np.abs(x - np.linalg.pinv(a) @ b).max() < 2e-12 * np.abs(x).max()


def test_without_full_rank_the_bound_says_so():
    a = rng("rank").normal(size=(6, 7))
    a[5] = a[0] + a[1]
    with np.errstate(all="ignore"):
        _, bound, share = solved(a, np.ones(6))
        zero = solved(np.zeros((6, 7)), np.ones(6))
    assert not bound > 1e-10
    assert not share > 1e-10
    assert not zero[1] > 0.0
