"""Inertias that MuJoCo takes: it refuses a whole robot for one that no body has.

MuJoCo writes six digits and holds the triangle inequality to the last one of them, so that a flat
plate can come out as an inertia that it does not read again. Here such inertias get a little room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from linkwork.formats.urdf.records import ZERO, Inertial, Link, Matrix3, Robot

LEAST = 1e-9
"""kg m², of a mass that has no inertia."""

_ROOM = 1.2e-5  # of the largest moment: three numbers of six digits are this far off together
_ROUNDS = 50
_NONE: Matrix3 = (ZERO, ZERO, ZERO)
_SMALLEST = 1e-14  # kg m²; MuJoCo refuses moments below 1e-15


@dataclass(frozen=True, slots=True)
class Ready:
    """A robot whose inertias MuJoCo takes, and the links that have another one than before."""

    robot: Robot
    dropped: tuple[str, ...]  # in links that never move: left out
    points: tuple[str, ...]  # masses without inertia: `LEAST`
    mended: tuple[str, ...]  # the nearest one that keeps the triangle inequality
    unknown: tuple[str, ...]  # mass or inertia is not said: left out, or `LEAST`


def made_ready(robot: Robot) -> Ready:
    """The robot with inertias for MuJoCo. Links that move with a negative mass stay as they are.

    Links that never move have no effect: a mass or inertia that is not positive is left out there.
    """
    moving = _moving(robot)
    dropped: list[str] = []
    points: list[str] = []
    mended: list[str] = []
    unknown: list[str] = []

    def fitted(link: Link, own: Inertial) -> Inertial | None:
        if own.mass is None:  # unknown; MuJoCo makes what it can of the collision shapes
            unknown.append(link.name)
            return None
        if own.mass == 0 and not (own.inertia and any(map(any, own.inertia))):
            return replace(own, inertia=own.inertia or _NONE, extra=())
        if own.inertia is None or (own.mass > 0 and not any(map(any, own.inertia))):
            (unknown if own.inertia is None else points).append(link.name)
            least = ((LEAST, 0.0, 0.0), (0.0, LEAST, 0.0), (0.0, 0.0, LEAST))
            return replace(own, inertia=least, extra=())  # that has what is left of a matrix
        nearest, distance = nearest_possible(own.inertia)
        if own.mass < 0 and link.name in moving:
            return own
        if (own.mass < 0 or not _is_definite(own.inertia)) and link.name not in moving:
            dropped.append(link.name)
            return None
        if distance > 2 * _ROOM:
            mended.append(link.name)
        return replace(own, inertia=nearest)

    ready = _with_inertials(robot, fitted)
    return Ready(ready, tuple(dropped), tuple(points), tuple(mended), tuple(unknown))


def _with_inertials(robot: Robot, fitted: Callable[[Link, Inertial], Inertial | None]) -> Robot:
    links = tuple(
        link if link.inertial is None else replace(link, inertial=fitted(link, link.inertial))
        for link in robot.links
    )
    return replace(robot, links=links)


def _is_definite(inertia: Matrix3) -> bool:
    matrix = np.array(inertia)
    return bool(np.linalg.eigvalsh(matrix / np.abs(matrix).max())[0] > 0.0)


def nearest_possible(inertia: Matrix3) -> tuple[Matrix3, float]:
    """An inertia that a body has, near one that is not zero, and how far from it.

    The distance is that of the moments, by the largest of them. Moments that are not positive, or
    too small for MuJoCo, become `LEAST`; then the nearest ones that keep the triangle inequality
    with some room are taken. An inertia that is possible already comes back as it is.

    Source: projections on the half spaces a + b >= (1 + room) c, one after the other (Kaczmarz).
    """
    matrix = np.array(inertia)
    scale = float(np.abs(matrix).max())
    given, axes = np.linalg.eigh(matrix / scale)
    moments = given if given[0] * scale > _SMALLEST else np.maximum(given, LEAST / scale)
    for _ in range(_ROUNDS):  # another moment may be the largest then
        order = np.argsort(moments, kind="stable")
        normal = np.array([1.0, 1.0, -(1.0 + _ROOM)])[np.argsort(order)]
        lacking = -float(normal @ moments)
        if lacking <= 0.0:
            break
        moments = moments + normal * ((lacking + 1e-7 * moments.max()) / 3.0)
    if np.array_equal(moments, given):
        return inertia, 0.0
    new = (axes * moments) @ axes.T * scale
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (0.5 * (new + new.T)).tolist()
    distance = float(np.linalg.norm(moments - given)) / float(np.abs(given).max())
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), distance


def _moving(robot: Robot) -> set[str]:
    """The links that some joint moves."""
    below: dict[str, list[str]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    waiting = [joint.child for joint in robot.joints if joint.type != "fixed"]
    moving: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in moving:
            moving.add(name)
            waiting += below.get(name, ())
    return moving
