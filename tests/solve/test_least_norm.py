"""Least velocities against NumPy's pseudo-inverse."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.symbolic import on_symbols
from linkwork.ops.numpy import NUMPY
from linkwork.solve.least_norm import least_norm
from seeds import rng

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


def test_casadi_gives_the_same():
    a, b = rng("casadi").normal(size=(6, 7)), np.arange(6.0)
    sa, sb = cs.SX.sym("a", 6, 7), cs.SX.sym("b", 6)

    def norm(o, a, b):
        rows = [[a[i, j] for j in range(7)] for i in range(6)]
        x, bound, share = least_norm(o, rows, [b[i] for i in range(6)])
        return [*x, bound, share]

    f = cs.Function("f", [sa, sb], [cs.vertcat(*on_symbols(norm, sa, sb))])
    expected = solved(a, b)
    np.testing.assert_allclose(np.array(f(a, b)).ravel(), [*expected[0], *expected[1:]], rtol=1e-11)
