"""Trees of URDF files by the names of kdl_parser_py: `linkwork.faces.pykdl.kdl_parser`."""

from __future__ import annotations

from linkwork.faces.pykdl.kdl_parser import (
    LeftOverWarning,
    treeFromFile,
    treeFromParam,
    treeFromString,
    treeFromUrdfModel,
)

__all__ = [
    "LeftOverWarning",
    "treeFromFile",
    "treeFromParam",
    "treeFromString",
    "treeFromUrdfModel",
]
