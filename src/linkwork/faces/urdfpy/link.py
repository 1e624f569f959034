"""Rows S2-040 to S2-098: links, and what they are made of: shapes, meshes, colours, textures."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from linkwork import extras
from linkwork.errors import InputError
from linkwork.faces.urdfpy.base import URDFType, URDFTypeWithMesh
from linkwork.faces.urdfpy.utils import (
    FileReference,
    Floats,
    WrongTypeError,
    caller_level,
    joined_mesh,
    meshes_of,
    named_by_program,
)
from linkwork.faces.urdfpy.values import (
    Array,
    Number,
    Origin,
    Part,
    Parts,
    Source,
    Text,
    Value,
    Writer,
    colour,
    symmetric,
    vector,
)
from linkwork.formats.urdf import records
from linkwork.geometry import guards, volumes
from linkwork.locating import IMAGE_SUFFIXES
from linkwork.spatial.inertias import principal_moments

# shapes


class _Primitive(URDFType):
    """A shape whose mesh is made when it is first asked for, and again once its numbers change."""

    _mesher: ClassVar[Callable[..., Any]]
    _alike: ClassVar[str] = ""  # the axes along which it is scaled alike, or it would be another
    _made: tuple[list[Any], Any] | None = None

    @property
    def meshes(self) -> list[Any]:
        """A list of one ``trimesh.Trimesh``, metre, in the shape's own frame."""
        own = [getattr(self, name) for name in self._standard.attributes]
        own = [value.tolist() if isinstance(value, np.ndarray) else value for value in own]
        if self._made is None or self._made[0] != own:
            self._made = own, type(self)._mesher(*own)
        return [self._made[1]]

    def _scale_lengths(self, factors: Floats) -> None:
        alike = factors[:2] if self._alike == "x and y" else factors
        if self._alike and np.ptp(alike):
            whole = f"scale: a {self._standard.tag} stays one only where it is the same along"
            raise InputError(f"{whole} {self._alike}")
        for name, along in (("size", slice(None)), ("radius", 0), ("length", 2)):
            if name in self._standard.attributes:
                setattr(self, name, getattr(self, name) * factors[along])


class Box(_Primitive):
    """A box centred at its origin; ``size`` are the full lengths of its sides."""

    _RECORD = records.Box
    _mesher = staticmethod(volumes.box)

    size: Any = Array("The lengths (3,) of the sides, metre.", vector)


class Cylinder(_Primitive):
    """A cylinder along z, centred at its origin."""

    _RECORD = records.Cylinder
    _mesher = staticmethod(volumes.cylinder)
    _alike = "x and y"

    radius: Any = Number("The radius, metre.")
    length: Any = Number("The length, metre.")


class Capsule(_Primitive):
    """A cylinder along z with half spheres at its ends; ``length`` is without these.

    Not in the URDF standard, nor in the original; some files have it.
    """

    _RECORD = records.Capsule
    _mesher = staticmethod(volumes.capsule)
    _alike = "x, y and z"

    radius: Any = Number("The radius, metre.")
    length: Any = Number("The length, metre.")


class Sphere(_Primitive):
    """A sphere centred at its origin."""

    _RECORD = records.Sphere
    _mesher = staticmethod(volumes.sphere)
    _alike = "x, y and z"

    radius: Any = Number("The radius, metre.")


class _Scale(Array):
    """The scale (3,) of a mesh; None for one that changes nothing."""

    def check(self, owner: Any, value: Any) -> Any:
        return None if value is None else super().check(owner, value)

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        return None if record.scale == (1.0, 1.0, 1.0) else record.scale

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        if not record.filename:
            source.wrong("mesh", record, "it has no 'filename'", of=of)
        elif record.scale is None:
            source.wrong("mesh", record, "its scale is not three numbers", of=of)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        said = super().written(owner, writer)["scale"]
        return {"scale": (1.0, 1.0, 1.0) if said is None else said}


class _OfFile(URDFType):
    """An element that names a file, whose content is read from it or given by the program."""

    filename: Any
    _source: FileReference

    def _begin(self, content: str, given: Any) -> None:
        """Take what is given; read the file at once where nothing is, or later where that is."""
        later = isinstance(given, FileReference)
        self._source = given if later else named_by_program(self.filename)
        if given is None:
            self._open()
        elif not later:
            setattr(self, content, given)


class Mesh(_OfFile, URDFTypeWithMesh):
    """Triangles in a file, or given as ``meshes``.

    ``scale`` (3,) or None is not part of the meshes. A description's meshes are read when they are
    first asked for; those of a mesh made in a program at once.

    Raises: InputError where the mesh cannot be had or there is none; WrongTypeError.
    """

    _RECORD = records.Mesh

    combine: bool = False
    """Whether what is read becomes one mesh without colours."""

    filename: Any = Text("The name of the file, as written in the description.")
    scale: Any = _Scale("The scale (3,); or None.", vector, required=False)

    def __init__(self, filename: str, scale: Any = None, meshes: Any = None) -> None:
        self.filename = filename
        self.scale = scale
        self._meshes: list[Any] | None = None
        self._read: tuple[Path, list[int]] | None = None  # the file, and what was read from it
        self._begin("meshes", meshes)

    @classmethod
    def _of_record(cls, record: Any, source: Source, **more: Any) -> Any:
        return super()._of_record(record, source, meshes=source.later, **more)

    @property
    def meshes(self) -> list[Any]:
        """The list of ``trimesh.Trimesh``, metre, in the file's frame; the scale is not applied.

        May be set to a path, one mesh, or several.
        Raises: InputError where the file cannot be read.
        """
        self._open()
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

    def _open(self) -> None:
        if self._meshes is None:
            self._read_from(self._source, self._source.name or self.filename)

    def _read_from(self, source: FileReference, name: str) -> None:
        path, found = meshes_of(source, name, combine=self.combine or source.joined)
        self._meshes, self._read = found, (path, [hash(mesh) for mesh in found])

    def pending_file(self) -> str | None:
        """The file that the meshes will be read from; None where they are here.

        Where it cannot be had, its name in the description.
        """
        if self._meshes is not None:
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
            return self._source.path(self._source.name or self.filename)
        if self._read is None or [hash(mesh) for mesh in self._meshes] != self._read[1]:
            return None
        return self._read[0]


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


class Geometry(URDFTypeWithMesh):
    """One shape: a box, a cylinder, a sphere or a mesh (or a capsule).

    Raises: InputError for none or several; WrongTypeError.
    """

    _TAG = "geometry"
    _RECORD = records.Shape

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

    # the record of a geometry is that of its shape

    @classmethod
    def _judge(cls, record: Any, source: Source, of: str = "") -> None:
        cls._kind_of(_SHAPE_OF[type(record)])._judge(record, source, of)

    @classmethod
    def _of_record(cls, record: Any, source: Source, **more: Any) -> Any:
        name = _SHAPE_OF[type(record)]
        made = cls._kind_of(name)._of_record(record, source)
        return cls(**cls._by_tables({name: made}, (), source), **more)

    def _to_record(self, writer: Writer) -> Any:
        try:
            shape = self.geometry
        except InputError as error:
            raise InputError(f"{writer.where}: {error}") from None
        return shape._to_record(writer)


_PARTS = {name: part for name, part in vars(Geometry).items() if isinstance(part, _Shape)}
SHAPES = tuple(_PARTS)
_SHAPE_OF: dict[type, str] = {part.kind._RECORD: name for name, part in _PARTS.items()}


# materials


class Texture(_OfFile):
    """An image on a surface.

    A description's image is opened when first asked for, that of a texture made in a program at
    once, unless it is given.

    Raises: InputError where the image cannot be had.
    """

    _TAG = "texture"

    filename: Any = Text("The name of the image's file, as written in the description.")

    def __init__(self, filename: str, image: Any = None) -> None:
        self.filename = filename
        self._image: Any = None
        self.given = False  # by the program, so that no file holds it
        self._begin("image", image)

    @property
    def image(self) -> Any:
        """The image, a ``PIL.Image.Image``. May be set to a path, an array (h, w[, 3 or 4]) or one.

        Raises: InputError where the file cannot be read, or for anything else.
        """
        self._open()
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

    def _open(self) -> None:
        if self._image is None:
            self._image = _opened(self._source, self.filename)

    def file(self) -> Path | None:
        """The file that holds the image; None where the program gave another one.

        Raises: InputError where there is no such file.
        """
        return None if self.given else self._source.path(self.filename, suffixes=IMAGE_SUFFIXES)


def _opened(source: FileReference, name: str) -> Any:
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
    with extras.needed("images need", "pillow", "meshes"):
        from PIL import Image  # noqa: PLC0415  only who has textures needs it
    return Image


class _TextureValue(Value):
    kind, several = Texture, False

    def check(self, owner: Any, value: Any) -> Texture | None:
        """Raises: InputError for what is neither a texture nor a path."""
        if value is None or isinstance(value, Texture):
            return value
        if isinstance(value, (str, os.PathLike)):
            return Texture(os.fspath(value))
        kind = type(value).__name__
        raise InputError(f"{self.what(owner)} is a Texture or a path, not {kind}")

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        if not record.texture:
            return None
        return cls._kind_of("texture")(record.texture, image=source.later)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        return {"texture": None if owner.texture is None else owner.texture.filename}


class _Colour(Array):
    """Red, green, blue and opacity; as they were read, where they are still what was made of it."""

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        rgba = super().written(owner, writer)[self.field]
        before = None if owner.record is None else owner.record.rgba
        same = before is not None and rgba == tuple(np.clip(before, 0.0, 1.0).tolist())
        return {self.field: before if same else rgba}


class Material(URDFType):
    """A colour (4,) RGBA from 0 to 1 and a texture, each of them or none."""

    _RECORD = records.Material

    name: Any = Text("The name of the material.")
    color: Any = _Colour(
        "Red, green, blue and opacity (4,) from 0 to 1; or None.",
        colour,
        required=False,
        field="rgba",
    )
    texture: Any = _TextureValue("The texture; or None.")

    # whether the description has it inside a shape, and not beside the links
    inside: bool = False

    @property
    def has_appearance(self) -> bool:
        """Whether it has a colour or a texture, and is no mere name."""
        return self.color is not None or self.texture is not None

    def appearance(self) -> tuple[Any, ...]:
        """The name, colour and image, to be compared."""
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


class _Placed(URDFTypeWithMesh):
    """A shape with an origin in its link."""

    _is_place = True
    origin: Any
    geometry: Any

    def _scale_lengths(self, factors: Floats) -> None:
        self.origin = scaled_pose(self.origin, factors)

    def placed(self) -> Floats:
        """The pose (4, 4) in the link, with the scale of the mesh."""
        scale = self.geometry.scaling()
        return self.origin if scale is None else self.origin @ np.diag([*scale, 1.0])


class Collision(_Placed):
    """A shape of a link that others bump into; ``origin`` (4, 4) or (6,) places it in the link."""

    _RECORD = records.Collision
    _needed = 3

    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Origin("The pose (4, 4) of the shape in the link.")
    geometry: Any = Part("The shape.", Geometry, required=True)

    @classmethod
    def _of_record(cls, record: Any, source: Source, **more: Any) -> Any:
        return super()._of_record(record, replace(source, joined=True), **more)


class _VisualMaterial(Part):
    """The material of a visual, written in full where it is first used, unless beside the links."""

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        material = super().read(cls, record, source)
        if material is not None:
            material.inside = True
        return material

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        material: Material | None = owner.material
        if material is None:
            return {"material": None}
        as_read = owner.material_as_read()
        known = bool(material.name) and material.name in writer.defined
        if as_read is not None and (defines(as_read) or not material.has_appearance or known):
            return {"material": as_read}
        if known:
            return {"material": records.Material(material.name)}
        writer.defined |= {material.name} - {""}
        return super().written(owner, writer)


class Visual(_Placed):
    """A shape of a link that is seen; ``origin`` (4, 4) or (6,) places it in the link."""

    _RECORD = records.Visual

    geometry: Any = Part("The shape.", Geometry, required=True)
    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Origin("The pose (4, 4) of the shape in the link.")
    material: Any = _VisualMaterial("The material; or None.", Material)

    # the material that the description gave it, and how that looked then
    material_read: tuple[Material, tuple[Any, ...]] | None = None

    def material_as_read(self) -> records.Material | None:
        """The record of the material, where it is the same and looks the same."""
        material, record = self.material, self.record
        if (
            material is None
            or record is None
            or self.material_read != (material, material.appearance())
        ):
            return None
        as_read: records.Material | None = record.material
        return as_read


def defines(material: records.Material | None) -> bool:
    """Whether a material's record has a colour or a texture, and is no mere name."""
    return material is not None and (material.rgba is not None or bool(material.texture))


class _Inertia(Array):
    """A symmetric matrix; one that no body has is warned of, unless a file has been checked.

    Of the matrix the upper half is written.
    """

    def check(self, owner: Any, value: Any) -> Floats:
        what = self.what(owner)
        matrix = symmetric(what, value)
        scale = float(np.abs(matrix).max())
        if scale > 0.0 and owner.reading is None:
            moments, excess = principal_moments(0.5 * (matrix + matrix.T)[None] / scale)
            if moments[0, 0] <= 0.0 or excess[0] > _ROUNDING * moments[0, 2]:
                listed = ", ".join(f"{scale * moment:.3g}" for moment in moments[0])
                text = f"{what}: no body has the principal moments {listed} kg m²"
                warnings.warn(text, stacklevel=caller_level())
        return matrix

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        if record.mass is None:
            source.wrong("inertial", record, "there is no <mass>", "missing-mass", of)
        if record.inertia is None:
            source.wrong("inertial", record, "there is no whole <inertia>", "missing-inertia", of)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = owner.inertia.tolist()
        return {"inertia": ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))}


class Inertial(URDFType):
    """Mass and inertia (3, 3) about the centre of mass, in the axes of ``origin``.

    An inertia that no body has gives a warning.
    """

    _RECORD = records.Inertial
    _is_place = True

    mass: Any = Number("The mass, kg.")
    inertia: Any = _Inertia("The inertia (3, 3) about the centre of mass, kg m².", symmetric)
    origin: Any = Origin("The pose (4, 4) of the inertia's frame in the link.")

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
    """The inertial that a link without mass shows: 1 kg, as in the original.

    It counts once it is changed.
    """

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

    _RECORD = records.Link
    _is_place = True
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
            (mesh, shape.placed()) for shape in self.collisions for mesh in shape.geometry.meshes
        ]
        state = [(hash(mesh), T.tobytes()) for mesh, T in parts]
        if self._joined is None or self._joined[0] != state:
            moved = [mesh.copy().apply_transform(T) for mesh, T in parts]
            self._joined = state, joined_mesh(moved) if moved else None
        return self._joined[1]

    def copy(self, prefix: str = "", scale: Any = None, collision_only: bool = False) -> Any:
        """A copy as of all elements; ``collision_only`` leaves out the visuals."""
        other = super().copy(prefix, scale)
        if collision_only:
            other.visuals = []
        return other

    def _held(self, name: str) -> Any:
        """The parts; as inertial the given one, or the filler where it was changed."""
        if name != "inertial":
            return super()._held(name)
        held, filler = self.__dict__["_inertial"], self._filler
        if held is not None or filler is None:
            return held
        same = filler.mass == 1.0 and np.array_equal(filler.inertia, np.eye(3))
        return None if same and np.array_equal(filler.origin, np.eye(4)) else filler

    def __repr__(self) -> str:
        return f"<Link '{self.name}'>"
