"""Origins turned into others: exact where they can be, and as spatial's matrices elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.formats.urdf.edit.reroot import HERE, Origin, inverse, negated, relative, turned
from robots import origin as matrix
from seeds import rng


def of(random: np.random.Generator, pitch: float | None = None) -> Origin:
    rpy = random.uniform(-math.pi, math.pi, 3)
    rpy[1] = random.uniform(-1.5, 1.5) if pitch is None else pitch
    return Origin(tuple(random.normal(size=3).tolist()), tuple(rpy.tolist()))


def pose(one: Origin) -> np.ndarray:
    return matrix(one.xyz, one.rpy)


# distances of the pitch from a right angle, on both sides of where roll and yaw meet
LADDER = [0.0, 1e-17, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3]


@pytest.mark.parametrize("away", LADDER)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_relative_is_the_product_near_gimbal_lock_too(away: float, side: float):
    random = rng("origins")
    for k in range(50):
        pitch = side * (math.pi / 2 - away)
        frame = of(random, None if k % 2 else pitch)
        # such that the relative one has this pitch
        wanted = of(random, pitch)
        T = pose(frame) @ pose(wanted)
        other = relative(inverse(frame), wanted)
        np.testing.assert_allclose(pose(other), T, atol=5e-15)
        back = relative(frame, other)
        np.testing.assert_allclose(pose(back), pose(wanted), atol=1e-14)
        assert abs(back.rpy[1]) <= math.pi / 2 + 1e-15


def test_random_origins():
    random = rng("random origins")
    for _ in range(200):
        a, b = of(random), of(random)
        np.testing.assert_allclose(
            pose(relative(a, b)), np.linalg.inv(pose(a)) @ pose(b), atol=1e-14
        )
        np.testing.assert_allclose(pose(inverse(a)), np.linalg.inv(pose(a)), atol=1e-14)


def test_what_needs_no_rounding_gets_none():
    random = rng("exact origins")
    for _ in range(50):
        a, b = of(random), of(random)
        assert relative(a, a) == HERE
        assert relative(HERE, a) == a
        straight = Origin(b.xyz)
        assert inverse(straight) == Origin(tuple(-x for x in b.xyz))
        assert relative(straight, Origin(b.xyz, a.rpy)) == Origin((0, 0, 0), a.rpy)
        for k in range(3):
            rpy = tuple(a.rpy[i] if i == k else 0.0 for i in range(3))
            assert inverse(Origin(b.xyz, rpy)).rpy == tuple(-x for x in rpy)
            assert inverse(inverse(Origin((0, 0, 0), rpy))) == Origin((0, 0, 0), rpy)


def test_no_negative_zeros():
    zeros = [*inverse(HERE).xyz, *inverse(HERE).rpy, *negated((0.0, 1.0, 0.0))]
    zeros += inverse(Origin((0.0, 1.0, 0.0), (0.0, 0.3, 0.0))).rpy
    assert all(math.copysign(1, x) == 1 for x in zeros if x == 0)


def test_directions():
    random = rng("directions")
    for _ in range(20):
        a, axis = of(random), tuple(random.normal(size=3).tolist())
        np.testing.assert_allclose(turned(axis, a.rpy), pose(a)[:3, :3] @ axis, atol=1e-15)
        assert turned(axis, (0.0, 0.0, 0.0)) == axis
        assert negated(axis) == tuple(-x for x in axis)
