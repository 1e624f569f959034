"""What every operation means: the same on all back ends, eager, symbolic, folded and compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backends import BACKENDS, eps, run
from linkwork.ops import Ops
from seeds import rng

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

U = np.array([0.5, -2.0, 3.0])
V = np.array([1.5, 0.25, -4.0])
A = np.array([[1.0, 2.0, -3.0], [0.5, 0.0, 4.0], [-1.0, 2.5, 0.75]])
B = np.array([[0.0, 1.0], [2.0, -1.0], [3.0, 0.5]])
S = 0.7


def check(backend: str, function, expected, *arrays) -> None:
    expected = np.asarray(expected, dtype=np.float64)
    result = run(backend, function, *arrays)
    assert result.shape == expected.shape
    assert result.dtype == (np.float32 if backend.endswith("float32") else np.float64)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(result, expected, rtol=0, atol=4 * eps(backend) * scale)


# operators


@pytest.mark.parametrize(("x", "y"), [(S, 2.5), (U, V), (A, A.T), (U, S), (S, U), (A, S), (S, A)])
def test_sums_and_products_by_element_or_with_a_scalar(backend: str, x, y):
    check(backend, lambda o, a, b: a + b, np.add(x, y), x, y)
    check(backend, lambda o, a, b: a - b, np.subtract(x, y), x, y)
    check(backend, lambda o, a, b: a * b, np.multiply(x, y), x, y)
    check(backend, lambda o, a: -a, np.negative(x), x)


@pytest.mark.parametrize("x", [S, U, A])
def test_plain_numbers_stand_for_scalars(backend: str, x):
    check(backend, lambda o, a: 2.0 * a, 2.0 * np.asarray(x), x)
    check(backend, lambda o, a: a * 2, 2.0 * np.asarray(x), x)
    check(backend, lambda o, a: a / 2, np.asarray(x) / 2, x)
    check(backend, lambda o, a: np.float64(0.3) * a, 0.3 * np.asarray(x), x)
    check(backend, lambda o, a: 1.0 - a, 1.0 - np.asarray(x), x)


@pytest.mark.parametrize(("x", "y"), [(S, 2.5), (U, V), (U, S), (A, S)])
def test_quotients(backend: str, x, y):
    check(backend, lambda o, a, b: a / b, np.divide(x, y), x, y)


def test_matrix_products(backend: str):
    check(backend, lambda o, a, b: a @ b, A @ A.T, A, A.T)
    check(backend, lambda o, a, b: a @ b, A @ B, A, B)
    check(backend, lambda o, a, v: a @ v, A @ V, A, V)
    check(backend, lambda o, a, v: a @ v, B.T @ V, B.T, V)


@pytest.mark.parametrize("i", [0, 1, 2])
def test_elements_are_scalars(backend: str, i: int):
    check(backend, lambda o, v: v[i], V[i], V)
    check(backend, lambda o, a: a[i, 1], A[i, 1], A)
    check(backend, lambda o, a, v: a[i, 2] * v[i] + v[0], A[i, 2] * V[i] + V[0], A, V)


# constants


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -1.5,
        3,
        True,
        np.float32(0.25),
        np.int64(7),
        np.array(2.5),
        U,
        A,
        B,
        [1, 0, 2],
        [[1, 0]],
    ],
)
def test_constants_have_their_shape_and_are_floats(backend: str, value):
    expected = np.asarray(value, dtype=np.float64)
    check(backend, lambda o: o.const(value), expected)


def test_an_element_that_is_a_zero_of_a_constant_is_a_number(backend: str):
    def use(o: Ops, s):
        zero, one = o.const([0.0, 1.0])[0], o.const([[1.0, 0.0], [0.0, 1.0]])[0, 1]
        return o.vector(
            [
                s + zero,
                s * zero,
                zero - s,
                o.sin(zero) + o.cos(zero),
                o.atan2(zero, s) + o.atan2(s, one),
                o.sqrt(zero) + o.floor(zero) + o.absolute(zero),
                o.maximum(zero, -s) + o.minimum(s, zero),
                o.select(o.less(zero, s), s, zero),
                o.select(o.less(s, zero), s, zero),
                zero / s,
                -zero,
            ]
        )

    check(backend, use, [S, 0, -S, 1, math.pi / 2, 0, 0, S, 0, 0, 0], S)


def test_equal_constants_do_not_share_what_one_of_them_becomes(backend: str):
    def use(o: Ops, v):
        first = o.const(U)
        second = first + v
        return o.concat([first, second, o.const(U)])

    check(backend, use, [*U, *(U + V), *U], V)


# building and taking apart


def test_vector(backend: str):
    check(backend, lambda o, s: o.vector([s, 0.0, 2, s, np.float64(3.5)]), [S, 0, 2, S, 3.5], S)
    check(backend, lambda o: o.vector([1.0, 0.0, 2.0]), [1, 0, 2])
    check(backend, lambda o, v: o.vector([v[2], v[0]]), [V[2], V[0]], V)
    many = np.arange(12.0)
    check(backend, lambda o, v: o.vector([v[i] for i in range(12)]), many, many)
    check(backend, lambda o, s: o.vector([0.0] * 9 + [s]), [0.0] * 9 + [S], S)
    check(backend, lambda o: o.vector([o.const(0.0), o.const(0.0)]), [0.0, 0.0])


def test_matrix_takes_columns(backend: str):
    check(backend, lambda o, u, v: o.matrix([u, v]), np.stack([U, V], axis=1), U, V)
    mixed = np.stack([U, [0.0, 0.0, 1.0], V], axis=1)
    check(backend, lambda o, u, v: o.matrix([u, o.const([0.0, 0.0, 1.0]), v]), mixed, U, V)


def test_concat_and_part(backend: str):
    check(backend, lambda o, u, v: o.concat([u, o.const([0.0]), v]), [*U, 0, *V], U, V)
    check(backend, lambda o, u, v: o.part(o.concat([u, v]), 1, 5), [*U, *V][1:5], U, V)
    check(backend, lambda o: o.part(o.const([1, 0, 0, 4]), 1, 3), [0, 0])


@pytest.mark.parametrize("k", [0, 1])
def test_columns_and_rows_are_vectors(backend: str, k: int):
    check(backend, lambda o, b: o.column(b, k), B[:, k], B)
    check(backend, lambda o, b: o.row(b, k), B[k, :], B)
    check(backend, lambda o, b: b @ o.row(b, k + 1), B @ B[k + 1, :], B)
    check(backend, lambda o: o.row(o.const(np.eye(3)), k), np.eye(3)[k])
    check(backend, lambda o: o.column(o.const(np.eye(3)), k), np.eye(3)[k])


def test_transpose(backend: str):
    check(backend, lambda o, b: o.transpose(b), B.T, B)
    check(backend, lambda o, b, a: o.transpose(b) @ a, B.T @ A, B, A)


def test_products_of_vectors(backend: str):
    check(backend, lambda o, u, v: o.dot(u, v), U @ V, U, V)
    check(backend, lambda o, u, v: o.cross(u, v), np.cross(U, V), U, V)
    check(backend, lambda o, u, v: o.outer(u, v), np.outer(U, V), U, V)
    check(backend, lambda o, u, s: o.outer(u, o.vector([s, 2.0])), np.outer(U, [S, 2]), U, S)
    six = np.arange(6.0) - 2
    check(backend, lambda o, a: o.dot(a, a), six @ six, six)


@pytest.mark.parametrize("k", range(3))
def test_products_with_constant_axes(backend: str, k: int):
    axis = np.eye(3)[k]
    check(backend, lambda o, v: o.dot(o.const(axis), v), V[k], V)
    check(backend, lambda o, v: o.cross(o.const(axis), v), np.cross(axis, V), V)
    check(backend, lambda o, v: o.cross(v, o.const(axis)), np.cross(V, axis), V)
    check(backend, lambda o, v: o.outer(v, o.const(axis)), np.outer(V, axis), V)
    check(backend, lambda o: o.cross(o.const(axis), o.const(axis)), np.zeros(3))
    check(backend, lambda o: o.dot(o.const(axis), o.const(np.eye(3)[k - 1])), 0.0)


# functions of a scalar


def test_functions(backend: str):
    xs = np.array([-7.3, -2.0, -0.5, 0.0, 1e-9, 0.5, 1.0, 2.75, 100.25])
    functions = {
        "sin": (lambda o, s: o.sin(s), np.sin),
        "cos": (lambda o, s: o.cos(s), np.cos),
        "floor": (lambda o, s: o.floor(s), np.floor),
        "absolute": (lambda o, s: o.absolute(s), np.abs),
        "sqrt": (lambda o, s: o.sqrt(o.absolute(s)), lambda x: np.sqrt(np.abs(x))),
        "minimum": (lambda o, s: o.minimum(s, 0.25), lambda x: np.minimum(x, 0.25)),
        "maximum": (lambda o, s: o.maximum(0.25, s), lambda x: np.maximum(x, 0.25)),
    }
    for ours, numpy in functions.values():
        each = lambda o, v, f=ours: o.vector([f(o, v[k]) for k in range(len(xs))])
        given = xs.astype(np.float32) if backend.endswith("float32") else xs
        check(backend, each, numpy(given.astype(np.float64)), given)


def test_functions_take_plain_numbers(backend: str):
    def use(o: Ops):
        return o.vector(
            [o.sin(1), o.cos(1.0), o.sqrt(2), o.floor(2), o.absolute(-2), o.atan2(1, -1)]
        )

    expected = [math.sin(1), math.cos(1), math.sqrt(2), 2, 2, 0.75 * math.pi]
    check(backend, use, expected)
    check(backend, lambda o: o.vector([o.minimum(1, 2), o.maximum(1, 2.5)]), [1, 2.5])


def test_atan2_in_every_quadrant(backend: str):
    pairs = [(y, x) for y in (-2.0, 0.0, 1.5) for x in (-3.0, 0.0, 0.5)]
    ys, xs = np.array(pairs).T
    angles = lambda o, a, b: o.vector([o.atan2(a[k], b[k]) for k in range(9)])
    check(backend, angles, np.arctan2(ys, xs), ys, xs)


# choices


def test_less_is_strict(backend: str):
    pairs = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (-1.0, 0.0), (0.0, -0.0)]
    xs, ys = np.array(pairs).T
    expected = [1 if x < y else 2 for x, y in pairs]
    chosen = lambda o, a, b: o.vector([o.select(o.less(a[k], b[k]), 1, 2) for k in range(5)])
    check(backend, chosen, expected, xs, ys)
    beside = lambda o, a: o.vector([o.select(o.less(a[k], ys[k]), 1, 2) for k in range(5)])
    check(backend, beside, expected, xs)


@pytest.mark.parametrize("p", [False, True])
@pytest.mark.parametrize("q", [False, True])
def test_logic(backend: str, p: bool, q: bool):
    def use(o: Ops, a, b):
        first, second = o.less(0.5, a), o.less(0.5, b)
        conditions = [
            o.both(first, second),
            o.either(first, second),
            o.negate(first),
            o.both(first, o.negate(second)),
            o.negate(o.either(first, second)),
        ]
        return o.vector([o.select(condition, 1.0, 0.0) for condition in conditions])

    expected = [p and q, p or q, not p, p and not q, not (p or q)]
    check(backend, use, np.array(expected, dtype=float), float(p), float(q))


@pytest.mark.parametrize("s", [-1.0, 1.0])
def test_select_takes_scalars_vectors_and_matrices(backend: str, s: float):
    chosen = (lambda a, b: a) if s < 0 else (lambda a, b: b)
    pick = lambda o, s, a, b: o.select(o.less(s, 0.0), a, b)
    check(backend, pick, chosen(S, 2.5), s, S, 2.5)
    check(backend, pick, chosen(U, V), s, U, V)
    check(backend, pick, chosen(A, A.T), s, A, A.T)
    check(backend, lambda o, s: o.select(o.less(s, 0.0), 1, 2), chosen(1, 2), s)
    check(
        backend,
        lambda o, s: o.select(o.less(s, 0.0), o.const([1.0, 0, 0]), o.const([0, 0, 2.0])),
        chosen([1, 0, 0], [0, 0, 2]),
        s,
    )


def test_random_expressions_agree_with_numpy(backend: str):
    generator = rng("conformance")
    a, b = generator.normal(size=(3, 3)), generator.normal(size=(3, 3))
    v, s = generator.normal(size=3), generator.normal()

    def use(o: Ops, a, b, v, s):
        w = o.cross(a @ v, o.row(b, 1)) * o.cos(s) - o.column(a, 2) / (1.0 + s * s)
        m = o.outer(w, v) + o.transpose(b) @ a
        return m @ o.vector([o.dot(v, w), o.atan2(w[0], w[1]), o.sqrt(o.absolute(m[0, 2]))])

    expected = run("numpy", use, a, b, v, s)
    result = run(backend, use, a, b, v, s)
    np.testing.assert_allclose(result, expected, rtol=0, atol=100 * eps(backend))
