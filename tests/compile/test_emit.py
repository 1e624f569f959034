"""Sines and cosines of compiled code against 60-digit values."""

from __future__ import annotations

import casadi as cs
import mpmath
import numpy as np
import pytest

from linkwork.compile.emit import FAR
from linkwork.compile.kernel import build
from linkwork.compile.tracing import trace_function
from seeds import rng

LADDER = np.concatenate(
    [
        [0.0, 5e-324, 1e-300],
        np.logspace(-12, np.log10(FAR), 400),
        FAR * np.array([1 - 1e-15, 1.0, 1 + 1e-15, 1.5]),
        np.logspace(6, 22, 40),
    ]
)


@pytest.fixture(scope="module")
def sincos():
    return build(trace_function("sc", {"x": 1}, lambda x: {"sc": cs.vertcat(cs.sin(x), cs.cos(x))}))


def ulps(values, angles):
    with mpmath.workprec(400):
        exact = [(mpmath.sin(mpmath.mpf(a)), mpmath.cos(mpmath.mpf(a))) for a in angles.tolist()]
        return np.array(
            [
                [float(abs(mpmath.mpf(v) - e) / mpmath.mpf(np.spacing(abs(float(e))) or 5e-324))]
                for row, pair in zip(values.tolist(), exact, strict=True)
                for v, e in zip(row, pair, strict=True)
            ]
        )


def test_accurate_on_a_ladder_of_angles(sincos):
    angles = np.concatenate([LADDER, -LADDER])
    assert ulps(sincos(angles[:, None]), angles).max() <= 1.5


def test_accurate_next_to_multiples_of_a_quarter_turn(sincos):
    k = np.concatenate([np.arange(1, 200), [1000, 10007, 63661]])
    angles = np.concatenate([k * (np.pi / 2), np.nextafter(k * (np.pi / 2), 0.0)])
    assert ulps(sincos(angles[:, None]), angles).max() <= 1.5


def test_accurate_at_random_angles(sincos):
    angles = rng("sincos").uniform(-100.0, 100.0, 3000)
    assert ulps(sincos(angles[:, None]), angles).max() <= 1.5


def test_far_angles_do_not_touch_their_neighbours(sincos):
    near = rng("neighbours").uniform(-3.0, 3.0, 16)
    mixed = near.copy()
    mixed[5] = 1e9
    found, expected = sincos(mixed[:, None]), sincos(near[:, None])
    assert np.array_equal(np.delete(found, 5, 0), np.delete(expected, 5, 0))


def test_one_lane_and_many_give_the_same_bits(sincos):
    angles = np.concatenate([LADDER, -LADDER, rng("bits").normal(size=500) * 50])
    batch = sincos(angles[:, None])
    single = np.array([sincos(np.array([a])) for a in angles])
    assert np.array_equal(batch, single)


def test_negative_zero_keeps_its_sign(sincos):
    sine, cosine = sincos(np.array([-0.0]))
    assert sine == 0.0
    assert np.signbit(sine)
    assert cosine == 1.0
