"""Origins in XML, names of files, meshes: the functions of urdfpy."""

from __future__ import annotations

from linkwork.faces.urdfpy.utils import (
    configure_origin,
    get_filename,
    load_meshes,
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    parse_origin,
    rpy_to_matrix,
    unparse_origin,
    xyz_rpy_to_matrix,
)

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
