"""Edits of a description: each takes documents and gives a new one, checked as a file would be."""

from linkwork.formats.urdf.edit.names import prefix, rename
from linkwork.formats.urdf.edit.parts import cut, merge, remove, subtree
from linkwork.formats.urdf.edit.records import renamed_meshes
from linkwork.formats.urdf.edit.reroot import reroot

__all__ = ["cut", "merge", "prefix", "remove", "rename", "renamed_meshes", "reroot", "subtree"]
