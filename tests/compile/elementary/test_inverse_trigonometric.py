"""Axes, symmetries and sums of angles; test_accuracy.py has the digits."""

from __future__ import annotations

import itertools
import math

import numpy as np

from emitted import compiled, same_bits
from linkwork.compile.elementary.inverse_trigonometric import (
    angle_of,
    arccosine,
    arcsine,
    arctangent,
)
from seeds import rng

ATAN2, ATAN = compiled(angle_of, 2, 8), compiled(arctangent, 1, 8)
ASIN, ACOS = compiled(arcsine, 1, 8), compiled(arccosine, 1, 8)


def test_axes_and_diagonals_are_the_rounded_angles():
    """The nearest numbers to multiples of pi/4, with the signs of zeros and at infinity."""
    sides = [0.0, -0.0, 1.0, -1.0, 3e200, -3e200, 1e-310, -1e-310, math.inf, -math.inf]
    y, x = np.array(list(itertools.product(sides, sides))).T
    expected = [math.atan2(*row) for row in zip(y.tolist(), x.tolist(), strict=True)]
    assert same_bits(ATAN2(y, x), expected)


def test_a_point_and_its_mirror_images():
    y, x = np.abs(rng("mirrors").normal(size=(2, 500)))
    angle = ATAN2(y, x)
    assert same_bits(ATAN2(-y, x), -angle)
    assert same_bits(ATAN2(-y, -x), -ATAN2(y, -x))
    np.testing.assert_allclose(ATAN2(y, -x), np.pi - angle, rtol=5e-16)
    np.testing.assert_allclose(ATAN2(x, y), np.pi / 2 - angle, atol=3e-16)


def test_scaling_by_powers_of_two_changes_nothing():
    y, x = rng("scaling").normal(size=(2, 500))
    for k in (-880, -100, 3, 890):
        assert same_bits(ATAN2(np.ldexp(y, k), np.ldexp(x, k)), ATAN2(y, x))


def test_arctangent_is_the_angle_over_one():
    y = np.concatenate([rng("over one").normal(size=500), np.logspace(-300, 300, 200)])
    assert same_bits(ATAN(y), ATAN2(y, np.ones_like(y)))


def test_arcsine_and_arccosine_are_complements():
    x = np.concatenate([rng("complements").uniform(-1, 1, 1000), [0.0, 0.5, -0.5, 1.0, -1.0]])
    np.testing.assert_allclose(ASIN(x) + ACOS(x), np.pi / 2, rtol=3e-16)
    assert same_bits(ASIN(-x), -ASIN(x))


def test_they_go_one_way_across_every_switch():
    x = np.unique(np.concatenate([np.linspace(-1, 1, 8001), 0.5 + np.arange(-50, 50) * 2e-16]))
    assert (np.diff(ASIN(x)) >= 0).all()
    assert (np.diff(ACOS(x)) <= 0).all()
    assert (np.diff(ATAN(4 * x)) >= 0).all()


def test_beyond_one_there_is_none():
    beyond = np.array([np.nextafter(1.0, 2.0), -1.5, 1e300, np.inf, -np.inf, np.nan])
    assert np.isnan(ASIN(beyond)).all()
    assert np.isnan(ACOS(beyond)).all()
