"""Directions of view, and the way from a point of space to one of a drawing.

The projection is parallel: lengths across the direction of view have one scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number
from linkwork.errors import InputError, UnknownNameError

Floats = NDArray[np.float64]
View = str | tuple[float, float]

VIEWS: dict[str, tuple[float, float]] = {
    "front": (0.0, 0.0),
    "side": (-90.0, 0.0),
    "top": (-90.0, 90.0),
    "iso": (-55.0, 22.0),
}
"""Directions of the viewer by name: degrees from x towards y, and above the plane of x and y."""


_IN_FRONT = (-28.0, 18.0)


class Camera(NamedTuple):
    """A direction of view: unit vectors to the right, upward, and towards the viewer; a scale."""

    right: Floats
    up: Floats
    toward: Floats
    scale: float = 1.0
    """Pixels a metre."""
    origin: tuple[float, float] = (0.0, 0.0)
    """The place of the origin of space in the drawing."""

    def pixels(self, points: Any) -> Floats:
        """Points of space (..., 3), m, in the drawing (..., 2)."""
        x, y = points @ self.right, points @ self.up
        u, v = self.origin
        return np.stack([u + self.scale * x, v - self.scale * y], axis=-1)

    def nearness(self, points: Any) -> Floats:
        """Nearness (...) of points of space (..., 3) to the viewer, in pixels."""
        return self.scale * (points @ self.toward)

    @property
    def shows_ground(self) -> bool:
        """Whether the ground is seen as a plane below, neither from the side nor straight down."""
        return bool(0.12 < self.toward[2] < 0.985)

    def fitted(
        self, points: Floats, box: tuple[float, float, float, float], *, least: float
    ) -> Camera:
        """The camera that shows these points (n, 3) as large as a box (left, top, right, bottom).

        What is smaller than ``least`` (m) is shown as if it were that large.
        """
        flat = np.stack([points @ self.right, -(points @ self.up)], axis=-1)
        low, high = flat.min(axis=0), flat.max(axis=0)
        left, top, right, bottom = box
        extent = np.maximum(high - low, [least, least])
        scale = float(min((right - left) / extent[0], (bottom - top) / extent[1]))
        u, v = 0.5 * np.array([left + right, top + bottom]) - scale * 0.5 * (low + high)
        return self._replace(scale=scale, origin=(float(u), float(v)))


def camera(view: Any, axes: Iterable[tuple[bool, Floats]] | None, points: Floats) -> Camera:
    """The camera of a view: a name, or (azimuth, elevation) in degrees.

    ``axes``: for each joint whether it turns (or slides), and its axis in the world; None where
    joints turn about any axis. "auto" looks across the plane in which all of them move things,
    where there is one; else obliquely, from more beside or more in front, by where ``points``
    (n, 3) of the robot are seen farther apart.

    Raises: UnknownNameError, InputError.
    """
    if isinstance(view, str):
        if view == "auto":
            normal = None if axes is None else _plane_of_motion(axes)
            return _oblique(points) if normal is None else _looking(*_angles(normal))
        if view not in VIEWS:
            raise UnknownNameError("view", view, ("auto", *VIEWS))
        return _looking(*VIEWS[view])
    if isinstance(view, Sequence) and len(view) == 2:
        azimuth = finite_number(view[0], "azimuth of the view (degrees)")
        return _looking(
            azimuth,
            finite_number(view[1], "elevation of the view (degrees)", least=-90.0, most=90.0),
        )
    names = ", ".join(f"'{name}'" for name in ("auto", *VIEWS))
    raise InputError(f"view is {names} or (azimuth, elevation) in degrees, not {view!r:.60}")


def _looking(azimuth: float, elevation: float) -> Camera:
    a, e = math.radians(azimuth), math.radians(elevation)
    toward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    right = np.array([-math.sin(a), math.cos(a), 0.0])
    return Camera(right, np.cross(toward, right), toward)


def _oblique(points: Floats) -> Camera:
    """The usual view from beside, or one from more in front where points lie across that."""
    beside, in_front = _looking(*VIEWS["iso"]), _looking(*_IN_FRONT)
    widths = [float(np.ptp(points @ look.right)) for look in (beside, in_front)]
    return in_front if widths[1] > 1.2 * widths[0] else beside


def _plane_of_motion(axes: Iterable[tuple[bool, Floats]]) -> Floats | None:
    """The normal of the plane in which all joints move what they carry, or None."""
    turning, sliding = list[Floats](), list[Floats]()
    for turns, axis in axes:
        (turning if turns else sliding).append(axis)
    if not turning:
        return None
    normal = turning[0]
    planar = all(abs(float(normal @ axis)) > 0.999 for axis in turning)
    planar = planar and all(abs(float(normal @ axis)) < 0.02 for axis in sliding)
    return normal if planar else None


def _angles(normal: Floats) -> tuple[float, float]:
    """Azimuth and elevation of a viewer who looks along a normal, from the usual one of sides."""
    x, y, z = normal.tolist()
    if abs(z) > 0.999:
        return VIEWS["top"]
    sign = 1.0 if (z > 0.02 or (abs(z) <= 0.02 and x - y > 0.0)) else -1.0
    x, y, z = sign * x, sign * y, sign * z
    return math.degrees(math.atan2(y, x)), math.degrees(math.asin(min(1.0, max(-1.0, z))))
