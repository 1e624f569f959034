"""Rows S2-040 to S2-060: shapes, and the meshes that stand for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType, URDFTypeWithMesh
from linkwork.faces.urdfpy.values import (
    Array,
    Number,
    Part,
    Text,
    WrongTypeError,
    optional_vector,
    vector,
)
from linkwork.geometry import load, shapes
from linkwork.locating import Folders, locate

Floats = NDArray[np.float64]


def _same(factors: Floats, what: str, axes: str) -> None:
    if np.ptp(factors):
        raise InputError(f"scale: {what} stays one only where it is the same along {axes}")


class _Primitive(URDFType):
    """A shape whose mesh is made when it is first asked for, and again once its numbers change."""

    _made: tuple[tuple[float, ...], Any] | None = None

    def _numbers(self) -> tuple[float, ...]:
        raise NotImplementedError

    def _make(self) -> Any:
        raise NotImplementedError

    @property
    def meshes(self) -> list[Any]:
        """A list of one ``trimesh.Trimesh``, metre, in the shape's own frame."""
        own = self._numbers()
        if self._made is None or self._made[0] != own:
            self._made = own, self._make()
        return [self._made[1]]


class Box(_Primitive):
    """A box centred at its origin; ``size`` are the full lengths of its sides."""

    _ATTRIBS: ClassVar[Attributes] = {"size": (np.ndarray, True)}
    _TAG = "box"

    size: Any = Array("The lengths (3,) of the sides, metre.", vector)

    def __init__(self, size: Any) -> None:
        self.size = size

    def _scale_lengths(self, factors: Floats) -> None:
        self.size = self.size * factors

    def _numbers(self) -> tuple[float, ...]:
        return tuple(self.size.tolist())

    def _make(self) -> Any:
        return shapes.box(self._numbers())


class _Round(_Primitive):
    radius: Any = Number("The radius, metre.")
    length: Any = Number("The length, metre.")

    def __init__(self, radius: float, length: float) -> None:
        self.radius = radius
        self.length = length

    def _numbers(self) -> tuple[float, ...]:
        return (self.radius, self.length)


class Cylinder(_Round):
    """A cylinder along z, centred at its origin."""

    _ATTRIBS: ClassVar[Attributes] = {"radius": (float, True), "length": (float, True)}
    _TAG = "cylinder"

    def _scale_lengths(self, factors: Floats) -> None:
        _same(factors[:2], "a cylinder", "x and y")
        self.radius *= factors[0]
        self.length *= factors[2]

    def _make(self) -> Any:
        return shapes.cylinder(self.radius, self.length)


class Capsule(_Round):
    """A cylinder along z with half spheres at its ends; ``length`` is without these.

    Not in the URDF standard, nor in the original; some files have it.
    """

    _ATTRIBS: ClassVar[Attributes] = {"radius": (float, True), "length": (float, True)}
    _TAG = "capsule"

    def _scale_lengths(self, factors: Floats) -> None:
        _same(factors, "a capsule", "x, y and z")
        self.radius *= factors[0]
        self.length *= factors[0]

    def _make(self) -> Any:
        return shapes.capsule(self.radius, self.length)


class Sphere(_Primitive):
    """A sphere centred at its origin."""

    _ATTRIBS: ClassVar[Attributes] = {"radius": (float, True)}
    _TAG = "sphere"

    radius: Any = Number("The radius, metre.")

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def _scale_lengths(self, factors: Floats) -> None:
        _same(factors, "a sphere", "x, y and z")
        self.radius *= factors[0]

    def _numbers(self) -> tuple[float, ...]:
        return (self.radius,)

    def _make(self) -> Any:
        return shapes.sphere(self.radius)


@dataclass(frozen=True)
class Later:
    """A mesh or an image that is opened when first asked for, found by the description's file."""

    file: str | None
    allow: Folders = ()
    joined: bool = False  # one mesh without colours, as collisions have
    name: str = ""  # where it is not the mesh's own

    def path(self, name: str, find: Callable[..., Path] = locate, **options: Any) -> Path:
        """The file that a name in the description means."""
        return find(name, self.file, self.allow, **options)


def named_by_program(filename: str) -> Later:
    """Where a file is that a program itself names: relative to the working folder, anywhere."""
    folder = Path.cwd()
    return Later(str(folder / "program.urdf"), (os.path.dirname(folder / filename),))


class Mesh(URDFTypeWithMesh):
    """Triangles in a file, or given as ``meshes``.

    ``scale`` (3,) or None is not part of the meshes. A description's meshes are read when they are
    first asked for; those of a mesh made in a program at once.

    Raises: InputError where the mesh cannot be had or there is none; WrongTypeError.
    """

    _ATTRIBS: ClassVar[Attributes] = {"filename": (str, True), "scale": (np.ndarray, False)}
    _TAG = "mesh"

    combine: bool = False
    """Whether what is read becomes one mesh without colours."""

    filename: Any = Text("The name of the file, as written in the description.")
    scale: Any = Array("The scale (3,); or None.", optional_vector)

    def __init__(self, filename: str, scale: Any = None, meshes: Any = None) -> None:
        self.filename = filename
        self.scale = scale
        self._source: Later | None = None
        self._meshes: list[Any] | None = None
        self._read: tuple[Path, list[int]] | None = None  # the file, and what was read from it
        if isinstance(meshes, Later):
            self._source = meshes
        elif meshes is None:
            self._source = named_by_program(self.filename)
            self._load()
        else:
            self.meshes = meshes

    @property
    def meshes(self) -> list[Any]:
        """The list of ``trimesh.Trimesh``, metre, in the file's frame; the scale is not applied.

        May be set to a path, one mesh, or several.
        Raises: InputError where the file cannot be read.
        """
        if self._meshes is None:
            self._load()
        return self._meshes or []

    @meshes.setter
    def meshes(self, value: Any) -> None:
        if isinstance(value, (str, os.PathLike)):
            name = os.fspath(value)
            self._read_from(named_by_program(name), name)
        else:
            self._meshes, self._read = _checked_meshes(value), None

    def _scale_lengths(self, factors: Floats) -> None:
        self.scale = factors if self.scale is None else self.scale * factors

    def _load(self) -> None:
        source = self._source or Later(None)
        self._read_from(source, source.name or self.filename)

    def _read_from(self, source: Later, name: str) -> None:
        path, found = _read(source, name, combine=self.combine or source.joined)
        self._meshes, self._read = found, (path, [hash(mesh) for mesh in found])

    def pending_file(self) -> str | None:
        """The file that the meshes will be read from; None where they are here.

        Where it cannot be had, its name in the description.
        """
        if self._meshes is not None or self._source is None:
            return None
        try:
            return str(self._source.path(self._source.name or self.filename))
        except InputError:
            return self.filename

    def file(self) -> Path | None:
        """The file that the meshes are in, unchanged; None where they were made or changed.

        Raises: InputError where they were never opened, and there is no such file.
        """
        if self._meshes is None:
            source = self._source or Later(None)
            return source.path(source.name or self.filename)
        if self._read is None or [hash(mesh) for mesh in self._meshes] != self._read[1]:
            return None
        return self._read[0]


def load_meshes(filename: str) -> list[Any]:
    """The meshes of a file, each a ``trimesh.Trimesh``, metre, where the file puts it.

    A program may name any file; see `Mesh` for those that a description names.
    Raises: InputError where it cannot be read.
    """
    name = os.fspath(filename)
    return _read(named_by_program(name), name)[1]


def _read(source: Later, name: str, *, combine: bool = False) -> tuple[Path, list[Any]]:
    """The file that a name means, and its meshes, or one of all without colours."""
    try:
        path = source.path(name)
        found = [_named(part, path) for part in load.load(path).parts]
    except InputError as error:
        raise InputError(f"unable to load mesh '{name}': {error}") from None
    if not found:
        raise InputError(f"unable to load mesh '{name}': there is none in the file")
    return path, [_labelled(bare(found), path)] if combine else found


def _named(part: load.Part, path: Path) -> Any:
    """The mesh of a part, with its name in the file."""
    mesh = _labelled(part.mesh, path)
    if part.name:
        mesh.metadata["name"] = part.name
    return mesh


def _labelled(mesh: Any, path: Path) -> Any:
    """A mesh that says which file it is from."""
    mesh.metadata.update(file_name=path.name, file_path=str(path))
    return mesh


def _checked_meshes(value: Any) -> list[Any]:
    import trimesh  # noqa: PLC0415  only who has meshes needs it

    if isinstance(value, trimesh.Trimesh):
        return [value]
    if not isinstance(value, (list, tuple, set, frozenset)):
        kind = type(value).__name__
        raise WrongTypeError(f"Mesh.meshes is a path, a Trimesh or a list of them, not {kind}")
    found = list(value)
    for mesh in found:
        if not isinstance(mesh, trimesh.Trimesh):
            kind = type(mesh).__name__
            raise WrongTypeError(f"Mesh.meshes is a list of Trimesh, not of {kind}")
    if not found:
        raise InputError("Mesh.meshes needs at least one mesh")
    return found


def bare(meshes: list[Any]) -> Any:
    """One mesh of several, without colours."""
    import trimesh  # noqa: PLC0415  only who has meshes needs it

    one: Any = meshes[0] if len(meshes) == 1 else trimesh.util.concatenate(meshes)
    return trimesh.Trimesh(vertices=one.vertices, faces=one.faces, process=False)


class _Shape(Part):
    """One of the shapes of a geometry: to set one takes the place of the one before.

    Between None for the one and another one a geometry has no shape, and is of no use.
    """

    def __set__(self, owner: Any, value: Any) -> None:
        checked = self.check(owner, value)
        if checked is not None:
            for name in SHAPES:
                owner.__dict__[f"_{name}"] = None
        owner.__dict__[self.slot] = checked


SHAPES = ("box", "cylinder", "sphere", "mesh", "capsule")


class Geometry(URDFTypeWithMesh):
    """One shape: a box, a cylinder, a sphere or a mesh (or a capsule).

    Raises: InputError for none or several; WrongTypeError.
    """

    _ELEMENTS: ClassVar[Elements] = {
        "box": (Box, False, False),
        "cylinder": (Cylinder, False, False),
        "sphere": (Sphere, False, False),
        "mesh": (Mesh, False, False),
        "capsule": (Capsule, False, False),
    }
    _TAG = "geometry"

    box: Any = _Shape("The box; or None.", Box)
    cylinder: Any = _Shape("The cylinder; or None.", Cylinder)
    sphere: Any = _Shape("The sphere; or None.", Sphere)
    mesh: Any = _Shape("The mesh; or None.", Mesh)
    capsule: Any = _Shape("The capsule; or None.", Capsule)

    def __init__(
        self,
        box: Box | None = None,
        cylinder: Cylinder | None = None,
        sphere: Sphere | None = None,
        mesh: Mesh | None = None,
        capsule: Capsule | None = None,
    ) -> None:
        given: dict[str, Any] = dict(
            zip(SHAPES, (box, cylinder, sphere, mesh, capsule), strict=True)
        )
        named = [name for name, shape in given.items() if shape is not None]
        for name in SHAPES:
            self.__dict__[f"_{name}"] = None
        for name in named:
            setattr(self, name, given[name])
        if len(named) != 1:
            listed = " and ".join(named) or "none"
            raise InputError(f"a Geometry has exactly one shape; given: {listed}")

    @property
    def geometry(self) -> Any:
        """The shape that is set.

        Raises: InputError where none is: one was set to None, and no other in its place.
        """
        for name in SHAPES:
            shape = self.__dict__[f"_{name}"]
            if shape is not None:
                return shape
        raise InputError(f"a Geometry without a shape: set one of {', '.join(SHAPES)}")

    @property
    def meshes(self) -> list[Any]:
        """The meshes of the shape, metre, in its own frame; the scale of a mesh is not applied."""
        return self.geometry.meshes

    def scaling(self) -> Floats | None:
        """The scale of a mesh, None for anything else."""
        return None if self.mesh is None else self.mesh.scale
