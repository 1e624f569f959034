"""The tree of a prepared file, for sides that are built by hand or name joints only.

The standard library's XML parser reads it; `tasks.prepare` has written it. Not for timing.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """One joint: its place in the parent link (4, 4), its axis in its own axes, its limits."""

    name: str
    type: str
    parent: str
    child: str
    T: Floats
    axis: Floats
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def moves(self) -> bool:
        """Whether it has a coordinate."""
        return self.type != "fixed"


@dataclass(frozen=True)
class Place:
    """Where a link is: which moving joint carries it (None: the base), and how it lies on it."""

    joint: str | None
    T: Floats


@dataclass(frozen=True)
class Description:
    """Joints in the order of the file; parents may come after children."""

    joints: tuple[Joint, ...]
    links: tuple[str, ...]

    @cached_property
    def above(self) -> dict[str, Joint]:
        """The joint over each link."""
        return {joint.child: joint for joint in self.joints}

    @property
    def root(self) -> str:
        """The link that is nobody's child."""
        return next(link for link in self.links if link not in self.above)

    @property
    def moving(self) -> list[str]:
        """Names of the joints that move, in the order of the file."""
        return [joint.name for joint in self.joints if joint.moves]

    def chain(self, tip: str) -> list[Joint]:
        """The joints from the root to a link, fixed ones included.

        Raises: ValueError where there is no such link.
        """
        if tip not in self.links:
            raise ValueError(f"no link '{tip}'; there are: {', '.join(self.links)}")
        found: list[Joint] = []
        while tip in self.above:
            found.append(self.above[tip])
            tip = found[-1].parent
        return found[::-1]

    def place(self, link: str) -> Place:
        """The moving joint that carries a link, and the link's pose in that joint's frame."""
        T = np.eye(4)
        for joint in reversed(self.chain(link)):
            if joint.moves:
                return Place(joint.name, T)
            T = joint.T @ T
        return Place(None, T)

    def moving_in_order(self) -> list[Joint]:
        """The joints that move, each after those that carry it."""
        found: dict[str, Joint] = {}
        for joint in self.joints:
            for other in self.chain(joint.child):
                if other.moves:
                    found.setdefault(other.name, other)
        return list(found.values())

    def breadth_first(self) -> list[str]:
        """Names of the moving joints, level by level, in the order of the file on each level."""
        found: list[str] = []
        level = [self.root]
        while level:
            below = [joint for link in level for joint in self.joints if joint.parent == link]
            found += [joint.name for joint in below if joint.moves]
            level = [joint.child for joint in below]
        return found

    def chain_first(self, tip: str) -> tuple[list[str], int]:
        """All moving joints, those of the chain to the tip first, and how many these are."""
        chain = [joint.name for joint in self.chain(tip) if joint.moves]
        return [*chain, *(name for name in self.moving if name not in chain)], len(chain)


def read(path: str | Path) -> Description:
    """Read a prepared file."""
    root = ET.parse(path).getroot()
    joints = tuple(_joint(element) for element in root.findall("joint"))
    links = tuple(str(link.get("name")) for link in root.findall("link"))
    return Description(joints, links)


def _joint(element: ET.Element) -> Joint:
    def end(tag: str) -> str:
        found = element.find(tag)
        return "" if found is None else str(found.get("link"))

    origin, axis = element.find("origin"), element.find("axis")
    xyz = _numbers(None if origin is None else origin.get("xyz"), (0, 0, 0))
    rpy = _numbers(None if origin is None else origin.get("rpy"), (0, 0, 0))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation(rpy), xyz
    along = _numbers(None if axis is None else axis.get("xyz"), (1, 0, 0))
    length = math.sqrt(float(along @ along)) or 1.0
    name, kind = str(element.get("name")), str(element.get("type"))
    lower, upper = -math.inf, math.inf
    limit = element.find("limit")
    if kind in ("revolute", "prismatic") and limit is not None:
        lower, upper = float(limit.get("lower", "0")), float(limit.get("upper", "0"))
    return Joint(name, kind, end("parent"), end("child"), T, along / length, lower, upper)


def _numbers(text: str | None, otherwise: Sequence[float]) -> Floats:
    values: list[Any] = text.split() if text else list(otherwise)
    return np.array(values, dtype=np.float64)


def rotation(rpy: Floats) -> Floats:
    """Rotation of roll, pitch and yaw about fixed axes.

    Source: URDF's <origin rpy>, R = Rz(yaw) Ry(pitch) Rx(roll).
    """
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def onto_z(axis: Floats) -> Floats:
    """A rotation whose third column is the axis (unit length)."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def with_zeros(jacobian: Any, columns: int) -> Floats:
    """A Jacobian of a chain (6, k) with zero columns behind for the joints off the chain."""
    known = np.asarray(jacobian, dtype=np.float64)
    full = np.zeros((6, columns))
    full[:, : known.shape[1]] = known
    return full


def pose(p: Any, R: Any) -> Floats:
    """A 4x4 pose of a position (3,) and a rotation (3, 3), or 9 numbers row by row."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.asarray(R).reshape(3, 3), p
    return T


def poses(p: Any, R: Any) -> Floats:
    """Poses (n, 4, 4) of positions (n, 3) and rotations (n, 3, 3) or (n, 9)."""
    T = np.zeros((len(p), 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = np.asarray(R).reshape(-1, 3, 3), p, 1.0
    return T


def from_quaternion(xyzw: Any) -> Floats:
    """Rotation of a unit quaternion, vector part first."""
    x, y, z, w = (float(v) for v in xyzw)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
