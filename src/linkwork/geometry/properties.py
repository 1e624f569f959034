"""Mass, centre of mass and inertia of bodies of one density: shapes by formula, meshes exactly.

`mass_properties` takes a mesh, or a record with the fields of a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.spatial import inertias

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class MassProperties:
    """``mass`` (kg), ``com`` (3,) (m), and ``I_com`` (3, 3) (kg m²) about it, axes of the shape."""

    mass: float
    com: Floats
    I_com: Floats


def mass_properties(shape: Any, density: float, *, hull: bool = False) -> MassProperties:
    """Mass, centre of mass and inertia of a mesh or a shape filled with one density (kg/m³).

    ``shape`` is a mesh (trimesh), or a record with a box's ``size``, a cylinder's or a capsule's
    ``radius`` and ``length`` (of the cylinder between the half spheres), a sphere's ``radius`` or
    an ellipsoid's half axes ``radii``; a record with ``radius`` and ``length`` is a capsule if its
    class says so. ``hull=True`` takes the convex hull of a mesh.

    Raises: InputError for a mesh that encloses no volume, and sizes or a density not above 0.
    """
    if hasattr(shape, "faces"):
        return _of_mesh(shape, density, hull=hull)
    (rho,) = _positive(density)
    if hasattr(shape, "size"):
        x, y, z = _positive(*shape.size)
        mass = rho * x * y * z
        moments = mass / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    elif hasattr(shape, "radii"):
        a, b, c = _positive(*shape.radii)
        mass = rho * 4 / 3 * pi * a * b * c
        moments = mass / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    elif hasattr(shape, "length") and "capsule" in type(shape).__name__.lower():
        (r,), h = _positive(shape.radius), float(shape.length)
        if not np.isfinite(h) or h < 0:
            raise InputError(f"the length of a capsule is {h:g} m; it must not be below 0")
        # the half spheres' centres of mass lie 3r/8 from their flat sides; parallel axes
        tube, ends = rho * pi * r * r * h, rho * 4 / 3 * pi * r**3
        along = tube * r * r / 2 + ends * r * r * 2 / 5
        across = tube * (3 * r * r + h * h) / 12
        across += ends * (r * r * 2 / 5 + h * h / 4 + 3 * h * r / 8)
        mass, moments = tube + ends, np.array([across, across, along])
    elif hasattr(shape, "length"):
        r, h = _positive(shape.radius, shape.length)
        mass = rho * pi * r * r * h
        across = mass * (3 * r * r + h * h) / 12
        moments = np.array([across, across, mass * r * r / 2])
    elif hasattr(shape, "radius"):
        (r,) = _positive(shape.radius)
        mass = rho * 4 / 3 * pi * r**3
        moments = np.full(3, mass * r * r * 2 / 5)
    else:
        raise InputError(
            f"no mass follows from a {type(shape).__name__}; a mesh or a shape is needed"
        )
    return MassProperties(float(mass), _frozen(np.zeros(3)), _frozen(np.diag(moments)))


def inertia_ellipsoid(mass: float, I_com: ArrayLike) -> tuple[Floats, Floats]:
    """The ellipsoid of one density that moves as a body does: half axes (3,) m and axes R (3, 3).

    ``I_com`` (3, 3) is the inertia about the centre of mass, kg m². Columns of R are the axes of
    the ellipsoid in those of ``I_com``, right-handed, the longest first. A half axis is zero where
    the body is flat or a line.

    Source: of m, (b² + c²)/5 and so on are the moments of an ellipsoid; solved for a², b², c².
    Raises: InputError for a mass not above zero, and for an inertia that no real body has.
    """
    if not (np.isfinite(mass) and mass > 0):
        raise InputError(f"the mass is {mass:g} kg; an ellipsoid of inertia needs one above 0")
    inertia = np.asarray(I_com, np.float64)
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        raise InputError("an inertia is a finite matrix (3, 3)")
    moments, R = np.linalg.eigh((inertia + inertia.T) / 2)
    squares = 2.5 / mass * (moments.sum() - 2 * moments)  # descending, as moments ascend
    if squares[2] < -1e-6 * max(abs(squares[0]), 1e-300) or moments[0] < 0:
        raise InputError(
            f"moments of {moments.round(9).tolist()} kg m² are of no real body: each is at most "
            "the sum of the other two"
        )
    if np.linalg.det(R) < 0:
        R[:, 2] *= -1
    return _frozen(np.sqrt(np.maximum(squares, 0.0))), _frozen(R)


def _of_mesh(mesh: Any, density: float, *, hull: bool = False) -> MassProperties:
    """A closed mesh: each triangle and a point inside are a tetrahedron, with its sign.

    Source: F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of
    its vertex coordinates", Journal of Mathematics and Statistics 1, 2005; the sum over the
    boundary as in B. Mirtich, "Fast and accurate computation of polyhedral mass properties", 1996.

    Raises: InputError for a mesh that is not closed (``hull=True`` takes its convex hull), one that
    is inside out in places or encloses nothing, and a density not above 0.
    """
    (rho,) = _positive(density)
    body, pieces = mesh, None
    if not len(mesh.faces):
        raise InputError("a mesh without faces has no mass")
    if hull:
        from linkwork.geometry.volumes import convex_hull  # noqa: PLC0415  scipy, only then

        body = convex_hull(mesh)
    else:
        pieces = _check_closed(mesh)
    points = np.asarray(body.vertices, np.float64)
    # About the middle of its box, so that nothing is lost to a body's distance from the origin.
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    a, b, c = np.moveaxis(points[np.asarray(body.faces)] - middle, 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = volumes.sum()
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    if abs(volume) <= 1e-12 * size**3:
        raise InputError("the mesh is flat or empty: it encloses no volume, so it has no mass")
    sign = np.sign(volume)  # a mesh inside out as a whole is the same body
    volumes, volume = sign * volumes, abs(volume)
    if pieces is not None:
        _check_sides(points[np.asarray(body.faces)], volumes, pieces)
    total = a + b + c
    com = volumes @ total / 4 / volume
    # ∫ x xᵀ over a tetrahedron with one corner at 0: V/20 (Σ p pᵀ + (Σ p)(Σ p)ᵀ)
    second = sum(np.einsum("i,ij,ik->jk", volumes, p, p) for p in (a, b, c, total)) / 20
    second = second - volume * np.outer(com, com)
    if np.linalg.eigvalsh(second)[0] < -1e-9 * np.trace(second):
        raise InputError(
            "the mesh is inside out in places, so that its moments are those of no body; turn "
            "these faces round, or hull=True takes the convex hull"
        )
    inertia = np.trace(second) * np.eye(3) - second
    return MassProperties(
        float(rho * volume), _frozen(com + middle), _frozen(rho * (inertia + inertia.T) / 2)
    )


def placed(properties: MassProperties, T: ArrayLike) -> MassProperties:
    """The same body where the pose T (4, 4) puts it.

    Raises: InputError for a T that does not keep lengths.
    """
    pose = np.asarray(T, np.float64)
    R = pose[:3, :3]
    if pose.shape != (4, 4) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9):
        raise InputError("T must be a pose (4, 4) that only turns and moves")
    com = R @ properties.com + pose[:3, 3]
    inertia = inertias.turned(R, properties.I_com)
    return MassProperties(properties.mass, _frozen(com), _frozen(inertia))


def lump(parts: Sequence[MassProperties]) -> MassProperties:
    """Several bodies as one.

    Raises: InputError for none.
    """
    if not parts:
        raise InputError("no bodies to lump")
    mass, com, inertia = inertias.lump(
        np.zeros(len(parts), np.int64),
        1,
        mass=np.array([part.mass for part in parts]),
        com=np.array([part.com for part in parts]),
        inertia=np.array([part.I_com for part in parts]),
    )
    return MassProperties(float(mass[0]), _frozen(com[0]), _frozen(inertia[0]))


def _check_closed(mesh: Any) -> Ints:
    """The piece (nf,) that each face belongs to, of a mesh that is closed, corners merged.

    Raises: InputError where not every edge belongs to two faces that pass it in opposite
    directions.
    """
    points = np.unique(np.asarray(mesh.vertices), axis=0, return_inverse=True)[1].reshape(-1)
    whole = faces = points[np.asarray(mesh.faces)]
    corners = [faces[:, k] for k in range(3)]
    faces = faces[np.logical_and.reduce([corners[k] != corners[k - 1] for k in range(3)])]
    edges = np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = int(points.max()) + 1
    there = np.sort(edges[:, 0] * count + edges[:, 1])
    back = np.sort(edges[:, 1] * count + edges[:, 0])
    if not np.array_equal(there, back):
        open_edges = len(np.setxor1d(there, back))
        raise InputError(
            f"the mesh is not closed, or not oriented throughout ({open_edges} of {len(there)} "
            "edges), so it encloses no volume; hull=True takes its convex hull"
        )
    return _pieces(whole, count)


def _pieces(faces: Ints, n_points: int) -> Ints:
    """The lowest corner (nf,) among all that faces (nf, 3) lead to from each face."""
    lowest = np.arange(n_points)
    while True:
        least = lowest[faces].min(axis=1)
        joined = lowest.copy()
        for k in range(3):  # the lowest corners of a face's corners lead on to the least of them
            np.minimum.at(joined, lowest[faces[:, k]], least)
        joined = joined[joined]
        if np.array_equal(joined, lowest):
            return lowest[faces[:, 0]]
        lowest = joined


def _check_sides(corners: Floats, volumes: Floats, pieces: Ints) -> None:
    """Pieces that take volume away are cavities: each lies in the box of one that adds some.

    Raises: InputError for one that does not, which is inside out.
    """
    piece = np.unique(pieces, return_inverse=True)[1].reshape(-1)
    own = np.bincount(piece, volumes)
    away = np.flatnonzero(own < -1e-12 * np.abs(volumes).sum())  # a flat piece has rounding
    if not away.size:
        return
    low, high = np.full((own.size, 3), np.inf), np.full((own.size, 3), -np.inf)
    np.minimum.at(low, piece, corners.min(axis=1))
    np.maximum.at(high, piece, corners.max(axis=1))
    solid = own > 0
    for k in away:
        if not ((low[solid] <= low[k]) & (high[k] <= high[solid])).all(axis=1).any():
            raise InputError(
                f"the mesh is inside out in places: of its {own.size} pieces one at "
                f"{np.round((low[k] + high[k]) / 2, 6).tolist()} faces inwards and is no cavity of "
                "another; turn its faces round, or hull=True takes the convex hull"
            )


def _positive(*values: Any) -> list[float]:
    numbers = [float(value) for value in values]
    for number in numbers:
        if not np.isfinite(number) or number <= 0:
            raise InputError(f"sizes and density must be positive and finite, not {number:g}")
    return numbers


def _frozen(array: Floats) -> Floats:
    array = np.array(array, np.float64)
    array.setflags(write=False)
    return array
