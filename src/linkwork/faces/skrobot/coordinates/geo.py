"""Frames between frames and along directions: ``skrobot.coordinates.geo``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.skrobot.coordinates.base import Coordinates
from linkwork.faces.skrobot.coordinates.math import rotation_matrix_from_vectors, rows

__all__ = ["midcoords", "orient_coords_to_axis", "rotate_points", "rotation_matrix_from_vectors"]


def midcoords(p: float, c1: Coordinates, c2: Coordinates) -> Coordinates:
    """A new frame a share ``p`` of the way from one frame to another: `Coordinates.interpolate`.

    Raises: InputError for a share outside [0, 1].
    """
    return c1.interpolate(c2, p)


def orient_coords_to_axis(
    target_coords: Coordinates, v: Any, axis: Any = "z", eps: float | None = None
) -> Coordinates:
    """`Coordinates.align_axis_to_direction` of a frame, which is returned; ``eps`` is not used."""
    return target_coords.align_axis_to_direction(v, axis)


def rotate_points(points: Any, a: Any, b: Any) -> NDArray[np.float64]:
    """Points (3,) or (N, 3), turned by the smallest rotation that takes direction ``a`` to ``b``.

    Raises: InputError for a zero direction; ShapeError.
    """
    return rows(points, "points", 3) @ rotation_matrix_from_vectors(a, b).T
