"""Rows S2-020 to S2-023 and S2-207 to S2-211: functions beside the classes.

Roll-pitch-yaw angles, origins in XML, names of files, and meshes in files.
"""

from __future__ import annotations

import inspect
import math
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, LinkworkError, ShapeError
from linkwork.geometry import load
from linkwork.locating import Folders, locate
from linkwork.mechanism.from_urdf import rotation_from_rpy

__all__ = [
    "configure_origin",
    "get_filename",
    "load_meshes",
    "matrix_to_rpy",
    "matrix_to_xyz_rpy",
    "parse_origin",
    "rpy_to_matrix",
    "unparse_origin",
    "xyz_rpy_to_matrix",
]

Floats = NDArray[np.float64]


class WrongTypeError(LinkworkError, TypeError):
    """A value of a type that is not taken."""


def caller_level() -> int:
    """The ``stacklevel`` of a warning about what a program gives: its line, not one of a face.

    To be called where the warning is given.
    """
    frame, level = inspect.currentframe(), 0
    faces = f"{str(__package__).rpartition('.')[0]}."
    while frame is not None and frame.f_globals.get("__name__", "").startswith(faces):
        frame, level = frame.f_back, level + 1
    return level


def numbers(what: str, value: Any, *shapes: tuple[int, ...]) -> Floats:
    """Finite numbers of one of these shapes, as an array of their own.

    Raises: WrongTypeError for what is no array or list; ShapeError; InputError.
    """
    if not isinstance(value, (np.ndarray, list, tuple)):
        listed = " or ".join(map(str, shapes))
        kind = type(value).__name__
        raise WrongTypeError(f"{what} is an array of shape {listed}, not {kind}")
    return _shaped(what, value, *shapes)


_FEW = 16  # up to here Python's own numbers are faster than a call of NumPy


def _shaped(what: str, value: Any, *shapes: tuple[int, ...]) -> Floats:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, not {value!r:.80}") from None
    if array.shape not in shapes:
        listed = " or ".join(map(str, shapes))
        raise ShapeError(f"{what} has the shape {listed}, not {array.shape}")
    few = array.size <= _FEW
    if not (all(map(math.isfinite, array.ravel().tolist())) if few else np.isfinite(array).all()):
        raise InputError(f"{what} must be finite, not {array.tolist()}")
    return array


# rotations


_IDENTITY = np.eye(4)
_LOCKED = 1e-12
"""Below this cosine of the pitch, yaw and roll turn about one axis, and yaw is given as 0."""

_RIGID = 1e-6  # how far from a rotation a matrix may be that passes for one


def rpy_to_matrix(coords: Any) -> Floats:
    """The rotation (3, 3) of roll, pitch, yaw (3,): Rz(yaw) Ry(pitch) Rx(roll).

    Raises: ShapeError, InputError.
    """
    roll, pitch, yaw = _shaped("coords", coords, (3,)).tolist()
    return rotation_from_rpy((roll, pitch, yaw))


def matrix_to_rpy(R: Any, solution: int = 1) -> Floats:
    """Roll, pitch, yaw (3,) of a rotation (3, 3).

    ``solution=1`` has the pitch within a quarter turn of zero; any other gives the second set of
    angles, whose pitch is not. Where the pitch is a quarter turn the yaw is 0. The angles give the
    matrix back to the last digits, near a quarter turn too.

    Raises: ShapeError, InputError.
    """
    matrix = _shaped("R", R, (3, 3))
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = matrix.tolist()
    level = math.hypot(r00, r10)
    if level < _LOCKED:
        if r20 < 0:
            return np.array([math.atan2(r01, r02), math.pi / 2, 0.0])
        return np.array([math.atan2(-r01, -r02), -math.pi / 2, 0.0])
    yaw = math.atan2(r10, r00)
    cos, sin = r00 / level, r10 / level
    # roll from what is left once yaw has been undone, so that an uncertain yaw does no harm
    a, b = sin * r02 - cos * r12, cos * r11 - sin * r01
    if solution == 1:
        return np.array([math.atan2(a, b), math.atan2(-r20, level), yaw])
    return np.array([math.atan2(-a, -b), math.pi - math.atan2(-r20, level), math.atan2(-r10, -r00)])


def xyz_rpy_to_matrix(xyz_rpy: Any) -> Floats:
    """The pose (4, 4) of x, y, z, roll, pitch, yaw (6,).

    Raises: ShapeError, InputError.
    """
    x, y, z, roll, pitch, yaw = _shaped("xyz_rpy", xyz_rpy, (6,)).tolist()
    return pose_of_numbers((x, y, z), (roll, pitch, yaw))


def pose_of_numbers(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> Floats:
    """The pose (4, 4) of a position and roll, pitch, yaw, as records have them."""
    pose = _IDENTITY.copy()
    pose[:3, 3] = xyz
    if any(rpy):
        pose[:3, :3] = rotation_from_rpy(rpy)
    return pose


def matrix_to_xyz_rpy(matrix: Any) -> Floats:
    """x, y, z, roll, pitch, yaw (6,) of a pose (4, 4), by the first solution of `matrix_to_rpy`.

    Raises: ShapeError, InputError.
    """
    pose = _shaped("matrix", matrix, (4, 4))
    return np.concatenate([pose[:3, 3], matrix_to_rpy(pose[:3, :3])])


def written_rpy(R: Floats, what: str) -> Floats:
    """Roll, pitch, yaw (3,) of the upper left (3, 3) of an origin, as a file may say them.

    Scale and shear, which it cannot say, are left out, with a warning that begins with ``what``.

    Raises: InputError for a singular matrix, and one that turns left hands to right.
    """
    if np.abs(R @ R.T - np.eye(3)).max() > _RIGID or np.linalg.det(R) < 0:
        left, scales, right = np.linalg.svd(R)
        if not scales[2] > _RIGID * scales[0] or np.linalg.det(R) < 0:
            text = "the upper left (3, 3) of an origin is mirrored or flat, so not turned"
            raise InputError(f"{what}: {text}")
        listed = " ".join(f"{scale:.6g}" for scale in scales)
        said = f"an origin scales by {listed}, which roll, pitch and yaw cannot say: it is left out"
        warnings.warn(f"{what}: {said}", stacklevel=caller_level())
        return matrix_to_rpy(left @ right) + 0.0
    return matrix_to_rpy(R) + 0.0  # so that none is -0


# origins


def pose(what: str, value: Any) -> Floats:
    """A pose (4, 4): as it is, from (6,) xyz and rpy, or the identity for None.

    Raises: WrongTypeError, ShapeError, InputError.
    """
    if value is None:
        return _IDENTITY.copy()
    array = numbers(what, value, (4, 4), (6,))
    if array.shape == (6,):
        return xyz_rpy_to_matrix(array)
    if array[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise InputError(f"{what} has the last row 0 0 0 1, not {array[3].tolist()}")
    return array


def configure_origin(value: Any) -> Floats:
    """A pose (4, 4): as it is, from (6,) xyz and rpy, or the identity for None.

    Raises: WrongTypeError, ShapeError, InputError.
    """
    return pose("an origin", value)


def parse_origin(node: Any) -> Floats:
    """The pose (4, 4) of the ``<origin>`` in an XML element; the identity where it has none.

    Raises: InputError for what are not three finite numbers.
    """
    origin = node.find("origin")
    rows: list[Floats] = []
    for name in ("xyz", "rpy"):
        text = "0 0 0" if origin is None else origin.get(name, "0 0 0")
        try:
            rows.append(np.array([float(part) for part in text.split()]).reshape(3))
        except ValueError:
            text = f"<origin>: {name} has three numbers, not '{text:.60}'"
            raise InputError(text) from None
    return xyz_rpy_to_matrix(np.concatenate(rows))


def unparse_origin(matrix: Any) -> ET.Element:
    """The element ``<origin>``, of ``xml.etree``, of a pose (4, 4).

    Raises: InputError, ShapeError.
    """
    T = configure_origin(matrix)
    written = {"xyz": T[:3, 3], "rpy": written_rpy(T[:3, :3], "unparse_origin")}
    return ET.Element("origin", {n: " ".join(map(repr, v.tolist())) for n, v in written.items()})


# files


def get_filename(base_path: str, file_path: str, makedirs: bool = False) -> str:
    """A path as it is where it is absolute, else below ``base_path``.

    With ``makedirs`` the folder that it lies in is made.
    """
    path = os.path.join(base_path, file_path)
    if makedirs:
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    return path


@dataclass(frozen=True)
class FileReference:
    """A mesh or an image that is opened when first asked for, found by the description's file."""

    file: str | None
    allow: Folders = ()
    joined: bool = False  # one mesh without colours, as collisions have
    name: str = ""  # where it is not the mesh's own

    def path(self, name: str, **options: Any) -> Path:
        """The file that a name in the description means."""
        return locate(name, self.file, self.allow, **options)


def named_by_program(filename: str) -> FileReference:
    """The place of a file that a program itself names: relative to the working folder, anywhere."""
    folder = Path.cwd()
    return FileReference(str(folder / "program.urdf"), (os.path.dirname(folder / filename),))


def load_meshes(filename: str) -> list[Any]:
    """The meshes of a file, each a ``trimesh.Trimesh``, metre, where the file puts it.

    A program may name any file; see `Mesh` for those that a description names.
    Raises: InputError where it cannot be read.
    """
    name = os.fspath(filename)
    return meshes_of(named_by_program(name), name)[1]


def meshes_of(source: FileReference, name: str, *, combine: bool = False) -> tuple[Path, list[Any]]:
    """The file that a name means, and its meshes, or one of all without colours.

    Raises: InputError where it cannot be read, or has none.
    """
    try:
        path = source.path(name)
        parts = load.load(path).parts
    except InputError as error:
        raise InputError(f"unable to load mesh '{name}': {error}") from None
    if not parts:
        raise InputError(f"unable to load mesh '{name}': there is none in the file")
    found = (
        [joined_mesh([part.mesh for part in parts])] if combine else [part.mesh for part in parts]
    )
    for mesh in found:
        mesh.metadata.update(file_name=path.name, file_path=str(path))
    for mesh, part in zip(() if combine else found, parts, strict=False):
        if part.name:
            mesh.metadata["name"] = part.name
    return path, found


def joined_mesh(meshes: list[Any]) -> Any:
    """One mesh of several, without colours."""
    import trimesh  # noqa: PLC0415  only who has meshes needs it

    one: Any = meshes[0] if len(meshes) == 1 else trimesh.util.concatenate(meshes)
    return trimesh.Trimesh(vertices=one.vertices, faces=one.faces, process=False)
