"""Masses and inertias of links as dictionaries: ``skrobot.utils.inertia``.

A dictionary has "mass" (kg), "com" (3,) m, "inertia" (ixx, ixy, ixz, iyy, iyz, izz) kg m² about
it, and "method", which says where it is from. Sums and meshes are the core's.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import poses
from linkwork.checks import finite_number
from linkwork.errors import InputError, LinkworkError, ShapeError
from linkwork.geometry.load import load
from linkwork.geometry.properties import MassProperties, lump, mass_properties, placed
from linkwork.spatial.inertias import principal_moments

Floats = NDArray[np.float64]

_UPPER = np.triu_indices(3)


def _matrix(inertia: ArrayLike) -> Floats:
    """An inertia (3, 3), given so or by its six numbers.

    Raises: ShapeError.
    """
    given = np.asarray(inertia, np.float64)
    if given.shape == (3, 3):
        return given
    if given.shape != (6,):
        raise ShapeError(f"an inertia is (6,) or (3, 3), not of shape {given.shape}")
    found = np.zeros((3, 3))
    found[_UPPER] = given
    return found + np.triu(found, 1).T


def _told(of: MassProperties, method: str) -> dict[str, Any]:
    inertia = tuple(of.I_com[_UPPER].tolist())
    return {"mass": of.mass, "com": of.com.tolist(), "inertia": inertia, "method": method}


def _of(info: dict[str, Any]) -> MassProperties:
    com = np.asarray(info["com"], np.float64)
    return MassProperties(float(info["mass"]), com, _matrix(info["inertia"]))


def parallel_axis(mass: float, inertia: ArrayLike, com: ArrayLike, reference: ArrayLike) -> Floats:
    """The inertia (3, 3) about a point (3,) of a body whose inertia about its ``com`` is given.

    Source: Huygens and Steiner, I + m (|d|² 1 - d dᵀ).
    """
    d = np.asarray(com, np.float64) - np.asarray(reference, np.float64)
    return _matrix(inertia) + float(mass) * (d @ d * np.eye(3) - np.outer(d, d))


def transform_inertial(
    mass: float,
    com: ArrayLike,
    inertia: ArrayLike,
    visual_xyz: ArrayLike,
    visual_rpy: ArrayLike,
    method: str = "given",
) -> dict[str, Any]:
    """The mass, centre and inertia of a shape in its link, placed at ``visual_xyz`` (m), rpy."""
    own = MassProperties(float(mass), np.asarray(com, np.float64), _matrix(inertia))
    return _told(placed(own, poses.pose(visual_xyz, rpy=visual_rpy)), method)


def combine_inertials(*infos: dict[str, Any] | None) -> dict[str, Any] | None:
    """Several bodies as one; what is None counts nothing, and of nothing at all it is None."""
    given = [info for info in infos if isinstance(info, dict)]
    if not given:
        return None
    methods = "+".join(info.get("method", "given") for info in given)
    return _told(lump([_of(info) for info in given]), methods)


def rescale_inertial_to_mass(
    info: dict[str, Any] | None, target_mass: float
) -> dict[str, Any] | None:
    """The same body with another mass, its inertia in proportion; where either is 0, as it is."""
    if info is None or not (info["mass"] > 0.0 and target_mass > 0.0):
        return info
    share = float(target_mass) / float(info["mass"])
    return {
        **info,
        "mass": float(target_mass),
        "inertia": tuple(share * float(each) for each in info["inertia"]),
        "method": f"{info.get('method', 'given')}->mass",
    }


def validate_inertia(mass: float, inertia6: Any, rel_tol: float = 1e-6) -> list[str]:
    """The faults of a mass and an inertia (6,), as texts; an empty list for a body."""
    found: list[str] = []
    if not mass > 0.0:
        found.append(f"mass is not positive (= {mass})")
    try:
        numbers = [float(each) for each in inertia6]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 6:
        return [*found, "inertia is not a 6-tuple (ixx,ixy,ixz,iyy,iyz,izz)"]
    if not all(map(math.isfinite, numbers)):
        return [*found, "inertia tensor has non-finite entries"]
    one, two, three = principal_moments(_matrix(numbers)[None])[0][0].tolist()
    if one <= 0.0:
        found.append(
            f"inertia tensor is not positive definite (smallest principal moment {one:.6g} <= 0)"
        )
    elif one + two < three * (1.0 - rel_tol):
        found.append(
            "principal moments violate the triangle inequality "
            f"(I1+I2 < I3: {one:.6g} + {two:.6g} < {three:.6g})"
        )
    return found


def mesh_mass_properties(
    mesh_path: str | os.PathLike[str], density: float = 1000.0, scale: float = 1.0
) -> tuple[float, Floats, Floats, str] | None:
    """Mass, centre (3,) and inertia (3, 3) of a mesh file of one density, and "mesh".

    "hull" where the mesh is open, and its convex hull counts; None for a file that is not there or
    holds no mesh. ``scale`` is one number.

    Raises: InputError for a density that is not above 0.
    """
    density = finite_number(density, "density", above=0.0)
    path = Path(mesh_path)
    try:
        mesh = load(path).mesh()
    except (LinkworkError, OSError):
        return None
    mesh.apply_scale(finite_number(scale, "scale", above=0.0))
    try:
        found, how = mass_properties(mesh, density), "mesh"
    except InputError:
        found, how = mass_properties(mesh, density, hull=True), "hull"
    return found.mass, np.array(found.com), np.array(found.I_com), how


def link_inertial_from_mesh(
    mesh_path: str | os.PathLike[str],
    visual_xyz: ArrayLike,
    visual_rpy: ArrayLike,
    density: float = 1000.0,
    scale: float = 1.0,
) -> dict[str, Any] | None:
    """`mesh_mass_properties` in the frame of a link, as `transform_inertial` gives it."""
    found = mesh_mass_properties(mesh_path, density, scale)
    if found is None:
        return None
    return transform_inertial(*found[:3], visual_xyz, visual_rpy, found[3])
