"""Robots and reference matrices for the tests of the face of TriP, by NumPy alone."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from linkwork.faces.trip_kinematics import KinematicGroup, Robot, Transformation


def rx(a: float) -> Any:
    return np.array([[1, 0, 0], [0, cos(a), -sin(a)], [0, sin(a), cos(a)]])


def ry(a: float) -> Any:
    return np.array([[cos(a), 0, sin(a)], [0, 1, 0], [-sin(a), 0, cos(a)]])


def rz(a: float) -> Any:
    return np.array([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])


def quaternion(w: float, x: float, y: float, z: float) -> Any:
    """The matrix that the documentation prints."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def homogeneous(R: Any = None, p: Any = (0.0, 0.0, 0.0)) -> Any:
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = p
    return T


def by_hand(values: dict[str, float]) -> Any:
    """The matrix of a transformation with angles: [Rx Ry Rz, p]."""
    v = {key: values.get(key, 0.0) for key in ("tx", "ty", "tz", "rx", "ry", "rz")}
    return homogeneous(rx(v["rx"]) @ ry(v["ry"]) @ rz(v["rz"]), (v["tx"], v["ty"], v["tz"]))


def two_links() -> list[Transformation]:
    """J (ry 0.5), 1 m, J2, 1 m."""
    first = Transformation("J", {"ry": 0.5}, ["ry"])
    link = Transformation("L", {"tx": 1.0}, parent=first)
    second = Transformation("J2", {"ry": 0.0}, ["ry"], parent=link)
    return [first, link, second, Transformation("L2", {"tx": 1.0}, parent=second)]


def doubled(name: str = "g", joint: str = "j", parent: Any = None, **more: Any) -> KinematicGroup:
    """A group of one joint about z and 1 m along x, whose actuator goes twice the angle."""
    turn = Transformation(joint, {"rz": 0.0}, ["rz"])
    arm = Transformation(f"{joint} arm", {"tx": 1.0}, parent=turn)
    return KinematicGroup(
        name,
        [turn, arm],
        {f"{joint} motor": 0.0},
        lambda state, *args: {joint: {"rz": state[f"{joint} motor"] / 2.0}},
        lambda state, *args: {f"{joint} motor": 2.0 * state[joint]["rz"]},
        parent=parent,
        **more,
    )


def branched() -> Robot:
    """A static base with two groups of which one carries a slide, in a list out of order."""
    base = Transformation("base", {"tz": 0.5, "rz": 0.3})
    left = doubled("left", "a", base)
    right = doubled("right", "b", base)
    slide = Transformation("slide", {"ty": 0.1, "rx": 0.2}, ["ty"], parent=left)
    return Robot([slide, right, left, base])
