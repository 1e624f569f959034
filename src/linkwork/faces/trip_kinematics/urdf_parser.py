"""Transformations from a URDF file."""

from __future__ import annotations

import math
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import ShapeError
from linkwork.faces.trip_kinematics.Transformation import (
    QUATERNION,
    TRANSLATION,
    Transformation,
)
from linkwork.faces.trip_kinematics.Utility import Rotation
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Joint
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations

__all__ = ["Rotation", "Transformation", "align_vectors", "from_urdf"]

_STATES = {"revolute": "rz", "continuous": "rz", "prismatic": "tz"}


def from_urdf(filename: str | os.PathLike[str]) -> list[Transformation]:
    """The transformations of a URDF file, to be given to `Robot`, with others beside them.

    For each joint NAME: NAME_tra and NAME_rot, its origin, without NAME_tra where that is zero;
    NAME_mov, its state ``rz`` or ``tz``, between NAME_sta and NAME_unsta where its axis is not z;
    and NAME, its child's frame. An axis that is not written is z, which is this library's default
    and not URDF's. Floating, spherical and planar joints are fixed, followers are free,
    each with a warning; limits do not count.

    Raises: DescriptionError (a ValueError) with every error of the file and its line.
    """
    robot = read(filename).robot
    carrying = {joint.child: joint for joint in robot.joints}
    ends: dict[str, Transformation] = {}
    made: list[Transformation] = []
    left = list(robot.joints)
    while left:  # as often as the file has parents behind their children
        later: list[Joint] = []
        for joint in left:
            above = carrying.get(joint.parent)
            if above is not None and above.name not in ends:
                later.append(joint)
                continue
            own = _of_joint(joint, None if above is None else ends[above.name])
            ends[joint.name] = own[-1]
            made += own
        left = later
    return made


def align_vectors(target: ArrayLike, to_align: ArrayLike) -> NDArray[np.float64]:
    """The smallest rotation R (3, 3) of which ``to_align @ R`` has the direction of ``target``.

    ``R.T`` is thus the matrix that turns ``to_align``, as a column, into ``target``.

    Raises: ShapeError; InputError for vectors that are zero or not finite.
    """
    a, b = np.asarray(target, np.float64).ravel(), np.asarray(to_align, np.float64).ravel()
    if a.shape != (3,) or b.shape != (3,):
        raise ShapeError(f"vectors have three numbers, not {a.size} and {b.size}")
    S = rotations.align_z(b)
    return S @ rotations.align_z(S.T @ a).T @ S.T


def _of_joint(joint: Joint, parent: Transformation | None) -> list[Transformation]:
    """The transformations of one joint, from its parent's frame to its child's."""
    name, made = joint.name, list[Transformation]()

    def add(suffix: str, values: dict[str, float], states: list[str] | None = None) -> None:
        made.append(Transformation(name + suffix, values, states, made[-1] if made else parent))

    if any(joint.xyz):
        add("_tra", dict(zip(TRANSLATION, joint.xyz, strict=True)))
    add("_rot", _quaternion(rotations.from_rpy(NUMPY, np.array(joint.rpy))))
    state = _STATES.get(joint.type)
    if state is None and joint.type != "fixed":
        _warn(f"joint '{name}' is {joint.type}: it is taken as fixed")
    if joint.mimic is not None:
        _warn(f"joint '{name}' follows '{joint.mimic.joint}' in the file: here it moves freely")
    if state is not None:
        R = rotations.align_z(joint.axis if "axis" in joint.layout else (0.0, 0.0, 1.0))
        turned = not np.array_equal(R, np.eye(3))
        if turned:
            add("_sta", _quaternion(R))
        add("_mov", {state: 0.0}, [state])
        if turned:
            add("_unsta", _quaternion(R.T))
    add("", {})
    return made


def _quaternion(R: Any) -> dict[str, float]:
    wxyz = np.asarray(rotations.to_quaternion(NUMPY, np.asarray(R)))
    return {
        key: float(part) for key, part in zip(QUATERNION, wxyz / math.hypot(*wxyz), strict=True)
    }


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
