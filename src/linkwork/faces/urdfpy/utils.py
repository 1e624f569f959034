"""Functions beside the classes: origins in XML, names of files, meshes."""

from __future__ import annotations

import os
import warnings
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy.link import load_meshes
from linkwork.faces.urdfpy.rotations import (
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    nearest_rotation,
    rpy_to_matrix,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.values import outside, pose

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


def parse_origin(node: Any) -> Floats:
    """The pose (4, 4) of the ``<origin>`` in an XML element; the identity where it has none.

    Raises: InputError for what are not three finite numbers.
    """
    origin = node.find("origin")
    if origin is None:
        return np.eye(4)
    rows = [_three(origin, name) for name in ("xyz", "rpy")]
    return xyz_rpy_to_matrix(np.concatenate(rows))


def _three(origin: Any, name: str) -> Floats:
    text = origin.get(name, "0 0 0")
    try:
        return np.array([float(part) for part in text.split()]).reshape(3)
    except ValueError:
        raise InputError(f"<origin>: {name} has three numbers, not '{text:.60}'") from None


def unparse_origin(matrix: Any) -> ET.Element:
    """The element ``<origin>``, of ``xml.etree``, of a pose (4, 4).

    Raises: InputError, ShapeError.
    """
    T = configure_origin(matrix)
    R, said = nearest_rotation(T[:3, :3])
    if said:
        warnings.warn(f"unparse_origin: {said}", stacklevel=outside())
    written = {"xyz": T[:3, 3], "rpy": matrix_to_rpy(R) + 0.0}
    return ET.Element("origin", {n: " ".join(map(repr, v.tolist())) for n, v in written.items()})


def get_filename(base_path: str, file_path: str, makedirs: bool = False) -> str:
    """A path as it is where it is absolute, else below ``base_path``.

    With ``makedirs`` the folder that it lies in is made.
    """
    path = os.path.join(base_path, file_path)
    if makedirs:
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    return path


def configure_origin(value: Any) -> Floats:
    """A pose (4, 4): as it is, from (6,) xyz and rpy, or the identity for None.

    Raises: WrongTypeError, ShapeError, InputError.
    """
    return pose(None, "an origin", value)
