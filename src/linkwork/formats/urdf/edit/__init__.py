"""Edits of a description: each takes documents and gives a new one, checked as a file would be."""

from linkwork.formats.urdf.edit.branches import cut, remove, subtree
from linkwork.formats.urdf.edit.merging import merge
from linkwork.formats.urdf.edit.mesh_names import renamed_meshes
from linkwork.formats.urdf.edit.renaming import prefix, rename
from linkwork.formats.urdf.edit.rerooting import reroot

__all__ = ["cut", "merge", "prefix", "remove", "rename", "renamed_meshes", "reroot", "subtree"]
