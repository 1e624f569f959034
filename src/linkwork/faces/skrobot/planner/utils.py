"""Angles of some joints, and where the robot stands, as one array: ``skrobot.planner.utils``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import ShapeError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.coordinates.base import Coordinates
from linkwork.faces.skrobot.coordinates.math import matrix2ypr

Floats = NDArray[np.float64]


def get_robot_config(
    robot_model: Any, joint_list: Sequence[Any], with_base: bool = False
) -> Floats:
    """The angles of joints; ``with_base`` also x, y and yaw of the robot in the world."""
    angles = [float(joint.joint_angle()) for joint in joint_list]
    if with_base:
        x, y, _ = robot_model.worldpos()
        angles += [x, y, matrix2ypr(robot_model.worldrot())[0]]
    return np.array(angles, np.float64)


def set_robot_config(
    robot_model: Any, joint_list: Sequence[Any], av: ArrayLike, with_base: bool = False
) -> None:
    """Set the angles of joints; ``with_base`` also where the robot stands, by x, y and yaw.

    Raises: ShapeError for another number of them.
    """
    values = np.asarray(av, np.float64)
    n = len(joint_list)
    if values.shape != (n + 3 * with_base,):
        raise ShapeError(f"av has {n + 3 * with_base} numbers, not the shape {values.shape}")
    for joint, angle in zip(joint_list, values[:n].tolist(), strict=True):
        joint.joint_angle(angle)
    if with_base:
        x, y, yaw = values[n:]
        height = robot_model.worldpos()[2]
        robot_model.newcoords(Coordinates([x, y, height], [yaw, 0.0, 0.0]), relative_coords="world")


__getattr__ = refusing(__name__)
