"""Rows S2-080 to S2-098: what a link is made of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFType, URDFTypeWithMesh
from linkwork.faces.urdfpy.materials import Material
from linkwork.faces.urdfpy.shapes import Geometry, bare
from linkwork.faces.urdfpy.values import Array, Number, Part, Parts, Text, outside, pose, symmetric
from linkwork.spatial.inertias import principal_moments

Floats = NDArray[np.float64]

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

    geometry: Any = Part("The shape.", Geometry, optional=False)
    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Array("The pose (4, 4) of the shape in the link.", pose)

    def __init__(self, name: str | None, origin: Any, geometry: Geometry) -> None:
        self.geometry = geometry
        self.name = name
        self.origin = origin

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

    geometry: Any = Part("The shape.", Geometry, optional=False)
    material: Any = Part("The material; or None.", Material)
    name: Any = Text("A name; or None.", optional=True)
    origin: Any = Array("The pose (4, 4) of the shape in the link.", pose)

    # the material that the description gave it, and how that looked then
    worn: tuple[Material, tuple[Any, ...]] | None = None

    def __init__(
        self,
        geometry: Geometry,
        name: str | None = None,
        origin: Any = None,
        material: Material | None = None,
    ) -> None:
        self.geometry = geometry
        self.name = name
        self.origin = origin
        self.material = material

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

    # whether a file is being read, whose inertias are findings of its own
    from_file: bool = False

    mass: Any = Number("The mass, kg.")
    inertia: Any = Array("The inertia (3, 3) about the centre of mass, kg m².", _inertia)
    origin: Any = Array("The pose (4, 4) of the inertia's frame in the link.", pose)

    def __init__(self, mass: float, inertia: Any, origin: Any = None) -> None:
        self.mass = mass
        self.inertia = inertia
        self.origin = origin

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
    kinematic = True

    name: Any = Text("The name of the link.")
    inertial: Any = _InertialValue("Mass and inertia.", Inertial)
    visuals: Any = Parts("The list of what is seen.", Visual, InputError)
    collisions: Any = Parts("The list of what others bump into.", Collision, InputError)

    def __init__(
        self,
        name: str,
        inertial: Inertial | None,
        visuals: Sequence[Visual] | None,
        collisions: Sequence[Collision] | None,
    ) -> None:
        self._filler: Inertial | None = None
        self._joined: tuple[Any, Any] | None = None
        self.name = name
        self.inertial = inertial
        self.visuals = visuals
        self.collisions = collisions

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
