"""Robots of the scikit-robot face for its tests: made in code, moved at random, differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from linkwork.errors import MissingExtraError
from linkwork.faces.skrobot import data
from linkwork.faces.skrobot.coordinates import CascadedCoords
from linkwork.faces.skrobot.model import LinearJoint, RobotModel, RotationalJoint
from linkwork.models import path

try:
    data.pr2_urdfpath()
except MissingExtraError:
    HAVE_ROBOTS = False
else:
    HAVE_ROBOTS = True
needs_robots = pytest.mark.skipif(not HAVE_ROBOTS, reason="example-robot-data is not installed")

PANDA_START = np.array([0.1, -0.4, 0.2, -1.8, 0.3, 1.5, 0.4])


def panda(q: Any = PANDA_START) -> Any:
    """The bundled Panda, its end coords 0.1 m in front of its last link."""
    robot: Any = RobotModel.from_urdf(str(path("panda")))
    robot.angle_vector(q)
    robot.end_coords = CascadedCoords(parent=robot.link_list[-1], pos=[0.0, 0.0, 0.1])
    return robot


def joined(kind: Any, parent: Any, child: Any, name: str | None = None, **more: Any) -> Any:
    """A joint between two links, which know of each other; the child's place is in the parent."""
    if child.parent is None:
        parent.assoc(child, relative_coords="local")
    joint = kind(parent_link=parent, child_link=child, name=name, **more)
    child.add_joint(joint)
    child.add_parent_link(parent)
    parent.add_child_link(child)
    return joint


def at_random(kind: Any, random: np.random.Generator) -> dict[str, Any]:
    """A random axis, and limits, for kinds of joints that take one."""
    if kind not in (RotationalJoint, LinearJoint):
        return {}
    return {"axis": random.normal(size=3), "min_angle": -3.0, "max_angle": 3.0}


def put(joint: Any, q: Any) -> None:
    """Set a joint to its positions (n,)."""
    joint.joint_angle(q if joint.joint_dof > 1 else float(q[0]))


def derivative(function: Callable[[], Any], joints: Sequence[Any], h: float = 1e-6) -> Any:
    """Central differences of something along the positions of joints, in the last axis."""
    columns = []
    for joint in joints:
        q = np.atleast_1d(joint.joint_angle()).astype(float)
        for step in h * np.eye(len(q)):
            ends = []
            for sign in (1.0, -1.0):
                put(joint, q + sign * step)
                ends.append(np.array(function()))
            put(joint, q)
            columns.append((ends[0] - ends[1]) / (2.0 * h))
    return np.stack(columns, axis=-1)


def turn_rate(slope: Any, R: Any) -> Any:
    """The angular velocity (3,) of a rotation R (3, 3) that changes by ``slope`` (3, 3)."""
    turn = slope @ R.T
    return 0.5 * np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
