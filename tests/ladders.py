"""Angles from nearly nothing to nearly half a turn, and exact formulas in 200 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from linkwork.spatial import so3

DIGITS = 200  # the slopes lose four times the digits that the angle has before it
LIMIT = 1e-40  # below it a coefficient is its value at zero, to 80 digits


def angles() -> np.ndarray:
    """Angles 0 ... pi: log-spaced from both ends, across every switch between two formulas."""
    steps = np.logspace(-12, 0, 25)
    ladder = [0.0, 1e-300, 1e-160, 1e-30, *steps, *np.linspace(0.1, 3.1, 31), *(np.pi - steps)]
    squares = {so3.SWITCH_HALF, so3.SWITCH_C, so3.SWITCH_SLOPE, so3.SWITCH_D, so3.SWITCH_D_SLOPE}
    switches = [np.sqrt(s) for s in squares] + [2 * np.arcsin(np.sqrt(so3.SWITCH_LOG))]
    # the clamps stand at 0.9 and 1.1 of a switch of the squared angle
    for switch in switches:
        ladder += [switch * np.sqrt(f) * (1 + d) for f in (0.9, 1, 1.1) for d in (-3e-16, 0, 3e-16)]
    return np.array(sorted(ladder))


def a(x: Any) -> Any:
    """sin x / x."""
    return mp.sin(x) / x if x > LIMIT else mp.mpf(1)


def b(x: Any) -> Any:
    """(1 - cos x) / x²."""
    return (1 - mp.cos(x)) / x**2 if x > LIMIT else mp.mpf(1) / 2


def c_(x: Any) -> Any:
    """(x - sin x) / x³."""
    return (x - mp.sin(x)) / x**3 if x > LIMIT else mp.mpf(1) / 6


def d(x: Any) -> Any:
    """(1 - x/2 cot x/2) / x²."""
    return (1 - x / 2 * mp.cot(x / 2)) / x**2 if x > LIMIT else mp.mpf(1) / 12


def slope_b(x: Any) -> Any:
    """The derivative of b by the product rule, over x; the next two likewise."""
    if x <= LIMIT:
        return -mp.mpf(1) / 12
    return (mp.sin(x) / x**2 - 2 * (1 - mp.cos(x)) / x**3) / x


def slope_c(x: Any) -> Any:
    if x <= LIMIT:
        return -mp.mpf(1) / 60
    return ((1 - mp.cos(x)) / x**3 - 3 * (x - mp.sin(x)) / x**4) / x


def slope_d(x: Any) -> Any:
    if x <= LIMIT:
        return mp.mpf(1) / 360
    h = x / 2
    change = -(mp.cot(h) - h / mp.sin(h) ** 2) / 2
    return (change / x**2 - 2 * (1 - h * mp.cot(h)) / x**3) / x


QUOTIENTS: dict[str, Callable[[Any], Any]] = {
    "a": a,
    "b": b,
    "c": c_,
    "d": d,
    "b'": slope_b,
    "c'": slope_c,
    "d'": slope_d,
}
"""The exact coefficients as functions of the angle, in mpmath."""


def exact(x: Any) -> Any:
    """The mpmath matrix or number that an array of floats stands for."""
    x = np.asarray(x)
    return mp.matrix(x.tolist()) if x.ndim else mp.mpf(float(x))


def exact_skew(w: Any) -> Any:
    x, y, z = w
    return mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def exact_polynomial(w: Any, first: Any, second: Any) -> Any:
    """1 + first [w] + second [w]² in mpmath."""
    skew = exact_skew(w)
    return mp.eye(3) + first * skew + second * (skew * skew)


def exact_exp(w: Any) -> Any:
    """The rotation of a rotation vector in mpmath."""
    x = mp.norm(w)
    return exact_polynomial(w, a(x), b(x))


def rounded(matrix: Any) -> np.ndarray:
    """An mpmath matrix as float64; a column becomes a vector."""
    array = np.array(
        [[float(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)]
    )
    return array[:, 0] if matrix.cols == 1 else array


def axes() -> np.ndarray:
    """Unit vectors: the coordinate axes both ways, and some where each entry is largest once."""
    some = np.array(
        [[3, 2, 1], [-1, 4, 2], [1, -2, 5], [-3, -2, -1], [1, 1, 1], [1, 1e-9, 0], [1e-5, -1, 1e-5]]
    )
    every = np.concatenate([np.eye(3), -np.eye(3), some])
    return every / np.linalg.norm(every, axis=1, keepdims=True)
