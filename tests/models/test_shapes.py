"""The bundled models as bodies: no gap at a joint, nothing below the floor, the right height."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linkwork.algorithms.forward_kinematics import fk_all
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf, rotation_from_rpy
from linkwork.mechanism.neutral import neutral
from linkwork.models import MODELS, path
from linkwork.ops.numpy import NUMPY

GAP = 0.002  # metre: what the eye takes for touching


def pose(xyz, rpy) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation_from_rpy(rpy), xyz
    return T


def signed_distance(shape, points: np.ndarray) -> np.ndarray:
    """How far points (n, 3) in the shape's frame are outside it; not positive inside."""
    kind = type(shape).__name__
    if kind == "Sphere":
        return np.linalg.norm(points, axis=1) - shape.radius
    if kind == "Box":
        past = np.abs(points) - np.array(shape.size) / 2
    else:
        radial = np.hypot(points[:, 0], points[:, 1]) - shape.radius
        past = np.stack([radial, np.abs(points[:, 2]) - shape.length / 2], axis=1)
    return np.linalg.norm(np.maximum(past, 0), axis=1) + np.minimum(past.max(axis=1), 0)


def samples(shape) -> np.ndarray:
    """Points (n, 3) all over a solid, its surface and corners included."""
    steps = np.linspace(-1, 1, 13)
    cube = np.array(list(product(steps, steps, steps)))
    kind = type(shape).__name__
    if kind == "Box":
        return cube * np.array(shape.size) / 2
    if kind == "Sphere":
        return shape.radius * cube / np.maximum(1, np.linalg.norm(cube, axis=1))[:, None]
    round_ = cube[:, :2] / np.maximum(1, np.linalg.norm(cube[:, :2], axis=1))[:, None]
    return np.c_[shape.radius * round_, cube[:, 2] * shape.length / 2]


def solids_in_the_world(name: str) -> dict[str, list[tuple[np.ndarray, object]]]:
    """Of every link, at zero: the pose of each visual and its shape."""
    robot = read(path(name)).robot
    m = from_urdf(read(path(name)))
    frames = dict(zip(m.frame_names, fk_all(NUMPY, m, neutral(m)), strict=True))
    return {
        link.name: [(frames[link.name] @ pose(v.xyz, v.rpy), v.geometry) for v in link.visuals]
        for link in robot.links
    }


def distance(some, others) -> float:
    """From one link's solids to another's, by sampling the first."""
    nearest = np.inf
    for (T, shape), (T_other, other) in product(some, others):
        seen = np.linalg.inv(T_other) @ T
        points = samples(shape) @ seen[:3, :3].T + seen[:3, 3]
        nearest = min(nearest, signed_distance(other, points).min())
    return nearest


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_no_gap_between_links(name: str):
    solids = solids_in_the_world(name)
    gaps = {}
    for joint in read(path(name)).robot.joints:
        parent, child = solids[joint.parent], solids[joint.child]
        if joint.type == "floating":  # held by legs or rods alone
            continue
        if parent and child:
            gaps[joint.name] = min(distance(parent, child), distance(child, parent))
    assert gaps
    wide = {joint: gap for joint, gap in gaps.items() if gap > GAP}
    assert not wide


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", list(MODELS))
def test_the_solids_of_a_link_hang_together(name: str):
    for link, solids in solids_in_the_world(name).items():
        joined, rest = solids[:1], solids[1:]
        while rest:
            near = [s for s in rest if min(distance([s], joined), distance(joined, [s])) <= GAP]
            assert near, f"{link} is in pieces"
            joined = joined + near
            rest = [s for s in rest if not any(s is other for other in near)]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("humanoid", -0.901, 0.799),  # the pelvis stands 0.530 of 1.70 m above the soles
        ("quadruped", -0.4215, None),  # thigh, shank and the ball of the foot
        ("mobile_arm", 0.0, None),
        ("two_arm_torso", 0.0, None),
        ("ur5e", 0.0, None),
        ("panda", 0.0, None),
        ("puma560", 0.0, None),
        ("scara", 0.0, None),
    ],
)
def test_what_stands_on_the_floor(name: str, low: float, high: float | None):
    points = [
        samples(shape) @ T[:3, :3].T + T[:3, 3]
        for solids in solids_in_the_world(name).values()
        for T, shape in solids
    ]
    heights = np.concatenate(points)[:, 2]
    assert heights.min() == pytest.approx(low, abs=1e-8)
    if high is not None:
        assert heights.max() == pytest.approx(high, abs=1e-8)
