"""The classes of urchin that differ from urdfpy's: meshes, and all that holds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from linkwork.faces import urdfpy
from linkwork.faces.urdfpy.base import Elements
from linkwork.faces.urdfpy.utils import FileReference, named_by_program

__all__ = ["URDF", "Collision", "Geometry", "Link", "Mesh", "Visual"]


class Mesh(urdfpy.Mesh):
    """Triangles in a file, or given as ``meshes``; all as one where ``combine`` is true.

    ``lazy_filename`` is a file that is opened when the meshes are first asked for.

    Raises: InputError where the mesh cannot be had or there is none; WrongTypeError.
    """

    def __init__(
        self,
        filename: str,
        combine: bool = False,
        scale: Any = None,
        meshes: Any = None,
        lazy_filename: str | None = None,
    ) -> None:
        if meshes is None and lazy_filename is not None:
            meshes = replace(named_by_program(lazy_filename), name=lazy_filename)
        elif isinstance(meshes, FileReference):
            combine = meshes.joined
        self.combine = bool(combine)
        self._named = lazy_filename
        super().__init__(filename, scale, meshes)

    @property
    def lazy_filename(self) -> str | None:
        """The file that is opened when the meshes are first asked for; None where they are here.

        Of a description's mesh it is the name in the description, where there is no such file.
        """
        return self._named if self._named is not None else self.pending_file()


class Geometry(urdfpy.Geometry):
    """One shape: a box, a cylinder, a sphere or a mesh (or a capsule).

    Raises: InputError for none or several; WrongTypeError.
    """

    _ELEMENTS: ClassVar[Elements] = {**urdfpy.Geometry._ELEMENTS, "mesh": (Mesh, False, False)}


class Collision(urdfpy.Collision):
    """A shape of a link that others bump into; ``origin`` (4, 4) or (6,) places it in the link."""

    _ELEMENTS: ClassVar[Elements] = {"geometry": (Geometry, True, False)}


class Visual(urdfpy.Visual):
    """A shape of a link that is seen; ``origin`` (4, 4) or (6,) places it in the link."""

    _ELEMENTS: ClassVar[Elements] = {
        **urdfpy.Visual._ELEMENTS,
        "geometry": (Geometry, True, False),
    }


class Link(urdfpy.Link):
    """A rigid link; as that of urdfpy, of the shapes here."""

    _ELEMENTS: ClassVar[Elements] = {
        **urdfpy.Link._ELEMENTS,
        "visuals": (Visual, False, True),
        "collisions": (Collision, False, True),
    }


class URDF(urdfpy.URDF):
    """A robot: links, the joints between them, transmissions and materials.

    Raises: DescriptionError with everything that is wrong, InputError, WrongTypeError.
    """

    _ELEMENTS: ClassVar[Elements] = {**urdfpy.URDF._ELEMENTS, "links": (Link, True, True)}
