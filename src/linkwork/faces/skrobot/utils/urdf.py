"""Documents of URDF, and how a robot's meshes are read: ``skrobot.utils.urdf``.

The documents are those of the face of urdfpy, from which the original's descend.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from linkwork.errors import InputError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.model.loading import NO_MESHES
from linkwork.faces.urdfpy import (
    URDF,
    Actuator,
    Box,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    Link,
    Material,
    Mesh,
    SafetyController,
    Sphere,
    Texture,
    Transmission,
    TransmissionJoint,
    URDFType,
    Visual,
    configure_origin,
    load_meshes,
    parse_origin,
    unparse_origin,
)

__all__ = [
    "URDF",
    "Actuator",
    "Box",
    "Collision",
    "Cylinder",
    "Geometry",
    "Inertial",
    "Joint",
    "JointCalibration",
    "JointDynamics",
    "JointLimit",
    "JointMimic",
    "Link",
    "Material",
    "Mesh",
    "SafetyController",
    "Sphere",
    "Texture",
    "Transmission",
    "TransmissionJoint",
    "URDFType",
    "Visual",
    "configure_origin",
    "enable_mesh_cache",
    "get_filename",
    "load_meshes",
    "mesh_simplify_factor",
    "no_mesh_load_mode",
    "parse_origin",
    "resolve_filepath",
    "unparse_origin",
]


@contextmanager
def mesh_simplify_factor(factor: float) -> Generator[None]:
    """Robots loaded inside keep their meshes whole: viewers simplify what they show by themselves.

    Raises: InputError for a factor that is not above zero.
    """
    if not float(factor) > 0.0:
        raise InputError(f"the factor is a number above zero, not {factor}")
    yield


@contextmanager
def enable_mesh_cache() -> Generator[None]:
    """Meshes of robots loaded inside are read once: they are always kept for the next robot."""
    yield


@contextmanager
def no_mesh_load_mode() -> Generator[None]:
    """Robots loaded inside have no meshes."""
    before = NO_MESHES.set(True)
    try:
        yield
    finally:
        NO_MESHES.reset(before)


def resolve_filepath(base_path: str | os.PathLike[str], file_path: str) -> str:
    """The path of a file that a description in ``base_path`` names, as it would be looked for."""
    name = file_path.removeprefix("file://")
    if name.startswith("package://"):
        package = name.removeprefix("package://")
        for folder in (Path(base_path), *Path(base_path).parents):
            for candidate in (folder / package, folder / package.partition("/")[2]):
                if candidate.is_file():
                    return str(candidate)
        return str(Path(base_path) / package)
    return os.path.normpath(os.path.join(base_path, name))


def get_filename(
    base_path: str | os.PathLike[str], file_path: str, makedirs: bool = False
) -> str | None:
    """The path of a file that a description in ``base_path`` names; None where there is none.

    With ``makedirs`` it is the path of a file that is to be written: the folder that it lies in is
    made.
    """
    path = resolve_filepath(base_path, file_path)
    if makedirs:
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        return path
    return path if os.path.isfile(path) else None


__getattr__ = refusing(__name__)
