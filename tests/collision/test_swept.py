"""Motions of whole robots, most of which is passed over by swollen balls: against many samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from seeds import rng

Floats = NDArray[np.float64]


def around(robot: lw.Robot, label: str, n: int) -> lw.Scene:
    """Solids of some kinds within a robot's reach, and a table."""
    random, scene = rng(label), lw.Scene()
    reach = robot.collision().reach
    for k in range(n):
        way = random.normal(size=3)
        place = way / np.linalg.norm(way) * reach * random.uniform(0.3, 0.7)
        T = lw.pose(place, rpy=random.uniform(-3, 3, 3))
        size = random.uniform(0.01, 0.12, 3) * reach
        if k % 3 == 0:
            scene.add_box(f"box {k}", size, T)
        elif k % 3 == 1:
            scene.add_cylinder(f"cylinder {k}", radius=size[0], length=size[1], pose=T)
        else:
            scene.add_sphere(f"sphere {k}", radius=size[0], pose=place)
    scene.add_half_space("ground", (0.0, 0.0, -1.5 * reach))
    return scene


def motions(robot: lw.Robot, n: int, label: str) -> tuple[Floats, Floats]:
    """Motions long and short, some of single joints, some not at all."""
    random = rng(label)
    first, last = (robot.random(n, seed=random) for _ in range(2))
    length = 10 ** random.uniform(-3, 0, (n, 1))
    last = first + length * (last - first)
    alone = random.random((n, robot.n_q)) < 0.7
    return first, np.where(alone & (np.arange(n) % 3 == 0)[:, None], first, last)


@pytest.mark.parametrize(
    ("name", "n", "solids"),
    [
        ("panda", 200, 14),
        ("planar_3r", 100, 5),
        pytest.param("quadruped", 200, 6, marks=pytest.mark.slow),
        pytest.param("two_arm_torso", 150, 2, marks=pytest.mark.slow),
        pytest.param("panda", 4000, 30, marks=pytest.mark.slow),
        pytest.param("scara", 1000, 9, marks=pytest.mark.slow),
    ],
)
def test_what_is_free_is_free_all_the_way(name: str, n: int, solids: int) -> None:
    robot = lw.load(name)
    model, scene = robot.collision(), around(robot, f"around {name}", solids)
    first, last = motions(robot, n, f"motions {name}")
    found = model.motion_collides(first, last, scene)
    assert 0.05 < found.touches.mean() < 0.95, "the scene is too easy or too hard to tell"
    for t in np.linspace(0.0, 1.0, 101):
        q = first + t * (last - first)
        before = ~found.touches | (t < found.t)
        assert not model.collides(q[before], scene).any()
    at = first + found.t[:, None] * (last - first)
    assert (model.clearance(at[found.touches], scene).distance <= 1e-5 + 1e-9).all()


def test_a_motion_too_long_for_intervals_is_looked_at_all_the_same() -> None:
    robot = lw.load("planar_3r")
    model, scene = robot.collision(), lw.Scene()
    start = np.zeros(3)
    stop = np.array([300.0, 0.0, 0.0])  # far beyond the limits, and beyond what float32 decides
    assert not model.motion_collides(start, stop, scene)
    scene.add_box("post", (0.02, 0.02, 1.0), (0.0, 0.4, 0.0))
    found = model.motion_collides(start, stop, scene)
    assert found
    assert model.clearance(start + found.t * (stop - start), scene).distance <= 1e-5 + 1e-9


@pytest.mark.sweep(1)
@pytest.mark.parametrize("tolerance", [0.02, 0.03])
def test_what_is_free_keeps_the_tolerance_all_the_way(tolerance: float) -> None:
    robot = lw.load("panda")
    model, scene = robot.collision(), around(robot, "around kept", 14)
    model = model.with_pairs(ignore=model.links)  # two of them are never farther apart
    first, last = motions(robot, 600, f"motions {tolerance}")
    for cloud in (False, True):
        if cloud:
            points = rng("points kept").normal(size=(12, 3)) * 0.5
            scene.add_points("cloud", points, radius=0.01)
        free = ~model.motion_collides(first, last, scene, tolerance=tolerance).touches
        assert 0.05 < free.mean() < 0.95
        near = 0  # what comes within the tolerance by more than 0.01 mm is told
        for t in np.linspace(0.0, 1.0, 201):
            q = first[free] + t * (last - first)[free]
            least = model.clearance(q, scene).distance
            assert least.min() >= tolerance - 1e-5
            near += np.count_nonzero(least < 1.1 * tolerance)
        assert near, "nothing came near: the test tells nothing"
