"""The bases of all elements, and of those that hold meshes."""

from __future__ import annotations

from linkwork.faces.urdfpy.base import URDFType, URDFTypeWithMesh

__all__ = ["URDFType", "URDFTypeWithMesh"]
