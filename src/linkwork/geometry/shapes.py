"""The shapes of descriptions as meshes: closed, normals outward, centred; made by trimesh.

A cylinder's and a capsule's axis is z. Corners of round shapes lie on the surface, so meshes are a
little smaller than the shapes: see `SIDES` and `SUBDIVISIONS`. trimesh merges corners nearer than
1e-8, whatever the size of the shape, so each is made with a radius of 1 and scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import InputError
from linkwork.geometry.guards import missing_extra

if TYPE_CHECKING:
    import trimesh

SIDES = 32
"""Sides of cylinders and capsules: 0.6 % less volume than the cylinder, 0.5 % of the radius off."""

SUBDIVISIONS = 3
"""Times that the icosahedron of a sphere is divided: 642 corners, 0.9 % less volume."""


def box(size: Sequence[float]) -> trimesh.Trimesh:
    """A box with edges of these lengths (3,) along x, y and z: 12 triangles.

    Raises: InputError for lengths that are not positive and finite.
    """
    if len(size) != 3:
        raise InputError(f"a box has three edges, not {len(size)}")
    edges = [_length(edge, "edge of a box") for edge in size]
    return _scaled(_trimesh().creation.box(extents=[1.0, 1.0, 1.0]), edges)


def cylinder(radius: float, length: float) -> trimesh.Trimesh:
    """A cylinder about z, from -length/2 to length/2.

    Raises: InputError for sizes that are not positive and finite.
    """
    r, h = _length(radius, "radius of a cylinder"), _length(length, "length of a cylinder")
    made = _trimesh().creation.cylinder(radius=1.0, height=1.0, sections=SIDES)
    return _scaled(made, [r, r, h])


def sphere(radius: float) -> trimesh.Trimesh:
    """A sphere.

    Raises: InputError for a radius that is not positive and finite.
    """
    made = _trimesh().creation.icosphere(subdivisions=SUBDIVISIONS, radius=1.0)
    return _scaled(made, [_length(radius, "radius of a sphere")] * 3)


def capsule(radius: float, length: float) -> trimesh.Trimesh:
    """A capsule about z: a cylinder from -length/2 to length/2, and half a sphere at each end.

    Raises: InputError for a radius that is not positive and a length below 0.
    """
    r = _length(radius, "radius of a capsule")
    h = _length(length, "length of a capsule") if float(length) != 0 else 0.0
    made = _trimesh().creation.capsule(height=h / r, radius=1.0, count=[SIDES, SIDES])
    made.apply_translation(-made.bounds.mean(axis=0))  # older versions start it at the origin
    return _scaled(made, [r, r, r])


def _scaled(mesh: Any, scale: Sequence[float]) -> Any:
    mesh.apply_transform(np.diag([*scale, 1.0]))
    return mesh


def _length(value: Any, what: str) -> float:
    number = float(value)
    if not np.isfinite(number) or number <= 0:
        raise InputError(f"the {what} is {number:g} m; a positive number is needed")
    return number


def _trimesh() -> Any:
    try:
        import trimesh  # noqa: PLC0415  only who opens meshes needs it
    except ImportError as error:
        raise missing_extra("meshes", "trimesh") from error
    return trimesh
