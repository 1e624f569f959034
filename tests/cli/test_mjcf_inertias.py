"""Inertias for MuJoCo: valid ones stay, others become the nearest valid one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linkwork.cli.mjcf_inertias import LEAST, made_ready, nearest_possible
from linkwork.formats.urdf.records import Inertial, Joint, Link, Matrix3, Robot
from seeds import rng


def turned(moments: Any, generator: np.random.Generator) -> Matrix3:
    """An inertia with these moments about some axes, symmetric to the last bit."""
    axes, _ = np.linalg.qr(generator.normal(size=(3, 3)))
    m = (axes * np.asarray(moments, np.float64)) @ axes.T
    (a, b, c), (_, d, e), (_, _, f) = (0.5 * (m + m.T)).tolist()
    return ((a, b, c), (b, d, e), (c, e, f))


def moments_of(inertia: Matrix3) -> Any:
    return np.linalg.eigvalsh(np.array(inertia))


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1.0, 1e300])
def test_an_inertia_that_a_body_has_stays_to_the_last_bit(scale: float):
    generator = rng(f"bodies {scale}")
    for _ in range(20):
        squares = generator.uniform(0.1, 1, 3)  # the sums of squares of coordinates
        given = turned((squares.sum() - squares) * scale, generator)
        assert nearest_possible(given) == (given, 0.0)


def test_another_one_becomes_the_nearest():
    generator = rng("nearest")
    for _ in range(20):
        a, b = np.sort(generator.uniform(0.1, 1, 2))
        given = turned((a, b, (a + b) * generator.uniform(1.01, 3)), generator)
        nearest, distance = nearest_possible(given)
        low, middle, high = moments_of(nearest)
        assert low + middle == pytest.approx(high, rel=1e-4)
        assert low + middle > high
        change = np.linalg.norm(np.array(nearest) - np.array(given))
        assert distance * moments_of(given)[2] == pytest.approx(change)
        for _ in range(50):  # no possible inertia near it is nearer
            other = moments_of(nearest) + generator.normal(size=3) * 0.02 * high
            low, middle, high = np.sort(other)
            if low > 0 and low + middle >= high * 1.0001:
                assert np.linalg.norm(other - moments_of(given)) > 0.99 * change


@pytest.mark.parametrize(
    "moments", [(0, 0, 1), (-1, 1, 1), (0, 1, 1), (0, 0, -1), (-1, -1, -1), (1e-20,) * 3]
)
def test_moments_that_are_not_positive_become_small_ones(moments: tuple[float, ...]):
    nearest, distance = nearest_possible(turned(moments, rng(f"moments {moments}")))
    low, middle, high = moments_of(nearest)
    assert low >= 0.5 * LEAST
    assert low + middle >= high
    assert distance > 0
    if moments == (-1, 1, 1):
        np.testing.assert_allclose([low, middle, high], [0, 1, 1], atol=2e-5)


def test_flat_plates_survive_six_digits():
    generator = rng("plates")
    for _ in range(2000):
        a, b = generator.uniform(0.1, 1, 2) * 10.0 ** generator.integers(-6, 3)
        nearest, distance = nearest_possible(((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, a + b)))
        assert distance < 1e-5
        low, middle, high = sorted(float(f"{v:.6g}") for v in moments_of(nearest))
        assert low + middle >= high


UNIT: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Matrix3 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
ODD: Matrix3 = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def body(mass: float, inertia: Matrix3) -> Inertial:
    return Inertial((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), mass, inertia)


def fixed(parent: str, child: str) -> Joint:
    return Joint(f"to {child}", "fixed", parent, child)


def test_what_happens_to_each_link():
    inertials = {
        "still": body(1.0, ODD),
        "negative": body(-1.0, UNIT),
        "point": body(1.0, ZERO),
        "nothing": body(0.0, ZERO),
        "moved": body(1.0, ODD),
        "on it": body(-1.0, UNIT),
        "good": body(1.0, UNIT),
    }
    links = (Link("root"), *(replace(Link(n), inertial=i) for n, i in inertials.items()))
    joints = [fixed("root", n) for n in ("still", "negative", "point", "nothing", "good")]
    joints += [Joint("j", "revolute", "root", "moved"), fixed("moved", "on it")]
    ready = made_ready(Robot("r", links, tuple(joints)))
    assert (ready.dropped, ready.points, ready.mended) == (
        ("still", "negative"),
        ("point",),
        ("moved",),
    )
    after = {link.name: link.inertial for link in ready.robot.links if link.inertial}
    assert after["point"].inertia == tuple(tuple(LEAST * v for v in row) for row in UNIT)
    assert moments_of(after["moved"].inertia)[0] > 0
    for name in ("nothing", "on it", "good"):
        assert after[name] == inertials[name]
    assert set(after) == {"point", "nothing", "moved", "on it", "good"}
