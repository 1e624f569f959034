"""Rows S2-040 to S2-098: links, and what they are made of: shapes, meshes, colours, textures."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, MissingExtraError
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType, URDFTypeWithMesh
from linkwork.faces.urdfpy.values import (
    Array,
    Number,
    Part,
    Parts,
    Text,
    Value,
    WrongTypeError,
    colour,
    optional_vector,
    outside,
    pose,
    symmetric,
    vector,
)
from linkwork.geometry import guards, load, volumes
from linkwork.locating import IMAGE_SUFFIXES, Folders, locate
from linkwork.spatial.inertias import principal_moments

# shapes


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
    _needed = 1

    size: Any = Array("The lengths (3,) of the sides, metre.", vector)

    def _scale_lengths(self, factors: Floats) -> None:
        self.size = self.size * factors

    def _numbers(self) -> tuple[float, ...]:
        return tuple(self.size.tolist())

    def _make(self) -> Any:
        return volumes.box(self._numbers())


class _Round(_Primitive):
    _needed = 2
    radius: Any = Number("The radius, metre.")
    length: Any = Number("The length, metre.")

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
        return volumes.cylinder(self.radius, self.length)


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
        return volumes.capsule(self.radius, self.length)


class Sphere(_Primitive):
    """A sphere centred at its origin."""

    _ATTRIBS: ClassVar[Attributes] = {"radius": (float, True)}
    _TAG = "sphere"
    _needed = 1

    radius: Any = Number("The radius, metre.")

    def _scale_lengths(self, factors: Floats) -> None:
        _same(factors, "a sphere", "x, y and z")
        self.radius *= factors[0]

    def _numbers(self) -> tuple[float, ...]:
        return (self.radius,)

    def _make(self) -> Any:
        return volumes.sphere(self.radius)


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


# materials


class Texture(URDFType):
    """An image on a surface.

    A description's image is opened when first asked for, that of a texture made in a program at
    once, unless it is given.

    Raises: InputError where the image cannot be had.
    """

    _ATTRIBS: ClassVar[Attributes] = {"filename": (str, True)}
    _TAG = "texture"

    filename: Any = Text("The name of the image's file, as written in the description.")

    def __init__(self, filename: str, image: Any = None) -> None:
        self.filename = filename
        self._source: Later | None = None
        self._image: Any = None
        self.given = False  # by the program, so that no file holds it
        if isinstance(image, Later):
            self._source = image
        elif image is None:
            self._source = named_by_program(self.filename)
            self._load()
        else:
            self.image = image

    @property
    def image(self) -> Any:
        """The image, a ``PIL.Image.Image``. May be set to a path, an array (h, w[, 3 or 4]) or one.

        Raises: InputError where the file cannot be read, or for anything else.
        """
        if self._image is None:
            self._load()
        return self._image

    @image.setter
    def image(self, value: Any) -> None:
        images = _pillow()
        if isinstance(value, (str, os.PathLike)):
            name = os.fspath(value)
            self._image = _opened(named_by_program(name), name)
        elif isinstance(value, images.Image):
            self._image = value
        elif isinstance(value, np.ndarray):
            try:
                self._image = images.fromarray(np.asarray(value))
            except (TypeError, ValueError) as error:
                raise InputError(f"Texture.image: the array is no image: {error}") from None
        else:
            kind = type(value).__name__
            raise InputError(f"Texture.image is a path, an array or a PIL image, not {kind}")
        self.given = True

    def _load(self) -> None:
        self._image = _opened(self._source or Later(None), self.filename)

    def file(self) -> Path | None:
        """The file that holds the image; None where the program gave another one.

        Raises: InputError where there is no such file.
        """
        if self.given:
            return None
        return (self._source or Later(None)).path(self.filename, suffixes=IMAGE_SUFFIXES)


def _opened(source: Later, name: str) -> Any:
    images = _pillow()
    try:
        path = source.path(name, suffixes=IMAGE_SUFFIXES)
        guards.check(path)
        with images.open(path) as image:
            image.load()
            return image
    except (OSError, ValueError) as error:
        reason = str(error).replace("mesh '", "image '", 1)  # both are found by the same rules
        raise InputError(f"unable to load image '{name}': {reason}") from None


def _pillow() -> Any:
    try:
        from PIL import Image  # noqa: PLC0415  only who has textures needs it
    except ImportError:
        text = "images need Pillow: pip install 'linkwork[meshes]'"
        raise MissingExtraError(text) from None
    return Image


class _TextureValue(Value):
    def check(self, owner: Any, value: Any) -> Texture | None:
        """Raises: InputError for what is neither a texture nor a path."""
        if value is None or isinstance(value, Texture):
            return value
        if isinstance(value, (str, os.PathLike)):
            return Texture(os.fspath(value))
        kind = type(value).__name__
        raise InputError(f"{self.what(owner)} is a Texture or a path, not {kind}")


class Material(URDFType):
    """A colour (4,) RGBA from 0 to 1 and a texture, each of them or none."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {"texture": (Texture, False, False)}
    _TAG = "material"
    _needed = 1

    name: Any = Text("The name of the material.")
    color: Any = Array("Red, green, blue and opacity (4,) from 0 to 1; or None.", colour)
    texture: Any = _TextureValue("The texture; or None.")

    # whether the description has it inside a shape, and not beside the links
    inside: bool = False

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name

    @property
    def looks(self) -> bool:
        """Whether it has a colour or a texture, and is no mere name."""
        return self.color is not None or self.texture is not None

    def look(self) -> tuple[Any, ...]:
        """What it looks like, to be compared."""
        color, texture = self.color, self.texture
        image = None if texture is None else (texture.filename, texture.given)
        return self.name, None if color is None else color.tobytes(), image


# link


_ROUNDING = 1e-4  # inertias are often given with few digits


def scaled_pose(T: Floats, factors: Floats) -> Floats:
    """A pose (4, 4) whose position is scaled along the axes."""
    scaled = T.copy()
    scaled[:3, 3] *= factors
    return scaled


def _prefix_name(shape: Any, prefix: str) -> None:
    if shape.name is not None:
        shape.name = prefix + shape.name


class Collision(URDFTypeWithMesh):
    """A shape of a link that others bump into; ``origin`` (4, 4) or (6,) places it in the link."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, False)}
    _ELEMENTS: ClassVar[Elements] = {"geometry": (Geometry, True, False)}
    _TAG = "collision"
    _needed = 3

    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Array("The pose (4, 4) of the shape in the link.", pose)
    geometry: Any = Part("The shape.", Geometry, optional=False)

    def _add_prefix(self, prefix: str) -> None:
        _prefix_name(self, prefix)

    def _scale_lengths(self, factors: Floats) -> None:
        self.origin = scaled_pose(self.origin, factors)


class Visual(URDFTypeWithMesh):
    """A shape of a link that is seen; ``origin`` (4, 4) or (6,) places it in the link."""

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, False)}
    _ELEMENTS: ClassVar[Elements] = {
        "geometry": (Geometry, True, False),
        "material": (Material, False, False),
    }
    _TAG = "visual"
    _needed = 1

    geometry: Any = Part("The shape.", Geometry, optional=False)
    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Array("The pose (4, 4) of the shape in the link.", pose)
    material: Any = Part("The material; or None.", Material)

    # the material that the description gave it, and how that looked then
    worn: tuple[Material, tuple[Any, ...]] | None = None

    def _add_prefix(self, prefix: str) -> None:
        _prefix_name(self, prefix)

    def _scale_lengths(self, factors: Floats) -> None:
        self.origin = scaled_pose(self.origin, factors)


def _inertia(owner: Any, what: str, value: Any) -> Floats:
    """A symmetric matrix; one that no body has is warned of, unless a file has been checked."""
    matrix = symmetric(owner, what, value)
    scale = float(np.abs(matrix).max())
    if scale > 0.0 and not getattr(owner, "from_file", False):
        moments, excess = principal_moments(0.5 * (matrix + matrix.T)[None] / scale)
        if moments[0, 0] <= 0.0 or excess[0] > _ROUNDING * moments[0, 2]:
            listed = ", ".join(f"{scale * moment:.3g}" for moment in moments[0])
            text = f"{what}: no body has the principal moments {listed} kg m²"
            warnings.warn(text, stacklevel=outside())
    return matrix


class Inertial(URDFType):
    """Mass and inertia (3, 3) about the centre of mass, in the axes of ``origin``.

    An inertia that no body has gives a warning.
    """

    _TAG = "inertial"
    _needed = 2

    # whether a file is being read, whose inertias are findings of its own
    from_file: bool = False

    mass: Any = Number("The mass, kg.")
    inertia: Any = Array("The inertia (3, 3) about the centre of mass, kg m².", _inertia)
    origin: Any = Array("The pose (4, 4) of the inertia's frame in the link.", pose)

    def copy(  # pyright: ignore[reportIncompatibleMethodOverride] -- as in the original
        self,
        prefix: str = "",
        mass: float | None = None,
        origin: Any = None,
        inertia: Any = None,
    ) -> Any:
        """A copy that shares nothing, with the mass, origin and inertia that are given.

        Inertials have no name; ``prefix`` is there as in all `copy`.
        """
        del prefix
        given = {"mass": mass, "origin": origin, "inertia": inertia}
        other = deepcopy(self)
        for name, value in given.items():
            if value is not None:
                setattr(other, name, value)
        return other

    def _scale_lengths(self, factors: Floats) -> None:
        """Keep the density: masses by the volume, second moments of mass by lengths too."""
        moments = 0.5 * np.trace(self.inertia) * np.eye(3) - self.inertia
        moments = moments * np.outer(factors, factors) * np.prod(factors)
        self.mass *= float(np.prod(factors))
        self.inertia = np.trace(moments) * np.eye(3) - moments
        self.origin = scaled_pose(self.origin, factors)


class _InertialValue(Part):
    """What a link without mass shows: 1 kg, as in the original; it counts once it is changed."""

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        held = super().__get__(owner, kind)
        if held is not None:
            return held
        if owner._filler is None:
            owner._filler = Inertial(mass=1.0, inertia=np.eye(3))
        return owner._filler


class Link(URDFTypeWithMesh):
    """A rigid link. Without ``inertial`` it has no mass.

    ``inertial`` then reads as mass 1 and inertia 1, as programs expect; this is not saved unless it
    is changed.
    """

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {
        "inertial": (Inertial, False, False),
        "visuals": (Visual, False, True),
        "collisions": (Collision, False, True),
    }
    _TAG = "link"
    _needed = 4
    kinematic = True

    name: Any = Text("The name of the link.")
    inertial: Any = _InertialValue("Mass and inertia.", Inertial)
    visuals: Any = Parts("The list of what is seen.", Visual, InputError)
    collisions: Any = Parts("The list of what others bump into.", Collision, InputError)
    _filler: Inertial | None = None
    _joined: tuple[Any, Any] | None = None

    @property
    def collision_mesh(self) -> Any:
        """One mesh of all collisions in the link's frame, scales applied; None without any.

        Made again when collisions have changed; else the same object each time.
        Raises: InputError where a mesh cannot be had.
        """
        parts = [
            (mesh, placed(shape)) for shape in self.collisions for mesh in shape.geometry.meshes
        ]
        state = [(hash(mesh), T.tobytes()) for mesh, T in parts]
        if self._joined is None or self._joined[0] != state:
            self._joined = state, _joined(parts)
        return self._joined[1]

    def copy(self, prefix: str = "", scale: Any = None, collision_only: bool = False) -> Any:
        """A copy as of all elements; ``collision_only`` leaves out the visuals."""
        other = super().copy(prefix, scale)
        if collision_only:
            other.visuals = []
        return other

    def _held(self, name: str) -> Any:
        return self.weight() if name == "inertial" else super()._held(name)

    def _add_prefix(self, prefix: str) -> None:
        self.name = prefix + self.name

    def weight(self) -> Inertial | None:
        """The inertial that is saved: the given one, or the filler where it was changed."""
        held: Inertial | None = self.__dict__["_inertial"]
        filler = self._filler
        if held is not None or filler is None:
            return held
        same = filler.mass == 1.0 and np.array_equal(filler.inertia, np.eye(3))
        return None if same and np.array_equal(filler.origin, np.eye(4)) else filler

    def __repr__(self) -> str:
        return f"<Link '{self.name}'>"


def placed(shape: Visual | Collision) -> Floats:
    """The pose (4, 4) of a shape in its link, with the scale of its mesh."""
    scale = shape.geometry.scaling()
    origin: Floats = shape.origin
    return origin if scale is None else origin @ np.diag([*scale, 1.0])


def _joined(parts: list[tuple[Any, Floats]]) -> Any:
    moved: list[Any] = []
    for mesh, T in parts:
        copy = mesh.copy()
        copy.apply_transform(T)
        moved.append(copy)
    return bare(moved) if moved else None
