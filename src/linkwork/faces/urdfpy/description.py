"""Records of `linkwork.formats.urdf` to the objects of this face, and back.

The classes come from the tables of the owner's class, so that a program's own subclasses are used;
what their tables name beyond the standard is taken from what the reader kept as unknown.

An object that was read keeps its record: unknown elements, comments and order stay there, and so do
the numbers as they were written (roll-pitch-yaw, an axis that is not a unit vector), as long as the
object's value is still the one that was made of them.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import DescriptionError, Finding, InputError
from linkwork.faces.urdfpy.base import STANDARD, changed, missing, own_class, parsed, unparsed
from linkwork.faces.urdfpy.joint import Joint, lacks_limit
from linkwork.faces.urdfpy.link import (
    Box,
    Capsule,
    Cylinder,
    Inertial,
    Later,
    Link,
    Material,
    Mesh,
    Sphere,
    Visual,
)
from linkwork.faces.urdfpy.rotations import matrix_to_rpy, nearest_rotation
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.values import IDENTITY, direction, outside
from linkwork.formats.urdf import records
from linkwork.locating import Folders
from linkwork.mechanism.from_urdf import rotation_from_rpy

# reading


Floats = NDArray[np.float64]

FAULTS = frozenset(
    {
        "duplicate-transmission",
        "transmission-type",
        "transmission-joint",
        "missing-mass",
        "missing-inertia",
    }
)
"""Findings of the reader that are errors here, as the original documents them."""

STRICT = frozenset({"inertia", "triangle", "mass", "material-differs", "transmission-parts"})
"""Findings that are errors too when a description is loaded with ``strict=True``."""


@dataclass
class Source:
    """Where a description comes from, and what this face finds wrong with it."""

    file: str | None = None
    allow: Folders = ()
    problems: list[Finding] = field(default_factory=list[Finding])

    def wrong(self, element: str, record: Any, message: str, code: str = "missing-element") -> None:
        """Note an error."""
        name = getattr(record, "name", None) or ""
        self.problems.append(
            Finding("error", code, message, self.file or "", record.line, element, name)
        )


NOWHERE = Source()
"""For parts that have no files."""


def escalated(document: records.Document, source: Source, *, strict: bool) -> None:
    """Note as errors the findings of the reader that are errors here."""
    codes = FAULTS | STRICT if strict else FAULTS
    source.problems += [
        replace(problem, level="error") for problem in document.problems if problem.code in codes
    ]


def _check_shapes(link: records.Link, source: Source) -> None:
    for shown in (*link.visuals, *link.collisions):
        if shown.geometry is None:
            source.wrong("geometry", shown, f"link '{link.name}' has a shape without geometry")
        elif isinstance(shown.geometry, records.Mesh) and not shown.geometry.filename:
            source.wrong("mesh", shown.geometry, f"link '{link.name}' has a mesh without a name")
        elif isinstance(shown.geometry, records.Mesh) and shown.geometry.scale is None:
            text = f"link '{link.name}' has a mesh whose scale is not three numbers"
            source.wrong("scale", shown.geometry, text)


def checked_against(cls: Any, robot: records.Robot, source: Source) -> None:
    """Note what ``cls`` and its tables need, and the reader does not.

    Raises: DescriptionError with all that has been noted.
    """
    for joint in robot.joints:
        _check_joint(cls, joint, source)
    for link in robot.links:
        _check_shapes(link, source)
    for transmission in robot.transmissions:
        _check_names(transmission, source)
    first: dict[str, records.Material] = {}
    for material in robot.materials:
        if material.name and first.setdefault(material.name, material) is not material:
            text = (
                f"two materials with name '{material.name}': line {first[material.name].line} has"
            )
            source.wrong("material", material, f"{text} it too", "duplicate-material")
    if source.problems:
        raise DescriptionError(sorted(source.problems, key=lambda problem: problem.line))


def _check_names(transmission: records.Transmission, source: Source) -> None:
    """Note what has no name, or an empty one, of a transmission and its parts."""
    of = f"of transmission '{transmission.name}'"
    parts = [("transmission", transmission, "a transmission")]
    parts += [("joint", own, f"a joint {of}") for own in transmission.joints]
    parts += [("actuator", own, f"an actuator {of}") for own in transmission.actuators]
    for element, record, what in parts:
        if not record.name:
            source.wrong(element, record, f"{what} has no name", "missing-attribute")


def _check_joint(cls: Any, joint: records.Joint, source: Source) -> None:
    limit, safety = joint.limit, joint.safety
    if limit is None and joint.type in ("revolute", "prismatic"):
        source.wrong("joint", joint, f"a {joint.type} joint needs a <limit>", "missing-limits")
    for tag, part, what in (
        ("limit", limit, "the limit"),
        ("safety_controller", safety, "the safety controller"),
    ):
        for name, (_, required) in {} if part is None else _part_attributes(cls, tag):
            if required and getattr(part, name, 0.0) is None:
                text = f"{what} of joint '{joint.name}' has no '{name}'"
                source.wrong(tag, part, text, "missing-attribute")


def _part_attributes(cls: Any, tag: str) -> Iterable[tuple[str, tuple[Any, bool]]]:
    """The table of a joint's part, as it is reached from a class that holds it, or is it."""
    for name in ("joints", tag):
        if name in STANDARD[own_class(cls)].elements:
            cls = kind_of(cls, name)
    standard = next(kind for kind, tables in STANDARD.items() if tables.tag == tag)
    return (cls if issubclass(cls, standard) else standard)._ATTRIBS.items()


def read_robot(cls: Any, robot: records.Robot, source: Source) -> Any:
    """The URDF of a description that has been checked."""
    driven = kind_of(cls, "transmissions")
    values = {
        "name": robot.name,
        "links": [read_link(kind_of(cls, "links"), link, source) for link in robot.links],
        "joints": [read_joint(kind_of(cls, "joints"), joint, source) for joint in robot.joints],
        "transmissions": [read_transmission(driven, own, source) for own in robot.transmissions],
        "materials": [
            read_material(kind_of(cls, "materials"), own, source) for own in robot.materials
        ],
    }
    made = cls.__new__(cls)
    made.judged = [values[name] for name in ("links", "joints", "transmissions", "materials")]
    made.__init__(**by_tables(cls, values, robot.extra, source))
    made.record, made.judged = robot, None
    return made


def kind_of(cls: Any, name: str) -> Any:
    """The class that a table names for the children in an attribute."""
    entry = cls._ELEMENTS.get(name) or STANDARD[own_class(cls)].elements[name]
    return entry[0]


def built(cls: Any, record: Any, values: dict[str, Any], source: Source, **more: Any) -> Any:
    """The object of a record: from the values that tables name, and those that they do not."""
    made = cls(**by_tables(cls, values, record.extra, source), **more)
    made.record = record
    return made


def pose_of(record: Any) -> Floats:
    """The pose (4, 4) of a record's origin."""
    pose = IDENTITY.copy()
    pose[:3, 3] = record.xyz
    if any(record.rpy):
        pose[:3, :3] = rotation_from_rpy(record.rpy)
    return pose


def read_link(cls: Any, record: records.Link, source: Source) -> Any:
    """A link with all that it has."""
    inertial = record.inertial
    inertia, seen, hit = (kind_of(cls, name) for name in ("inertial", "visuals", "collisions"))
    values = {
        "name": record.name,
        "inertial": None if inertial is None else read_inertial(inertia, inertial, source),
        "visuals": [read_visual(seen, own, source) for own in record.visuals],
        "collisions": [read_collision(hit, own, source) for own in record.collisions],
    }
    return built(cls, record, values, source)


def read_inertial(cls: Any, record: records.Inertial, source: Source) -> Any:
    """Mass and inertia, both of which the original needs; the reader has judged their numbers."""
    if record.mass is None or record.inertia is None:
        message = "an inertial has a <mass> and an <inertia> here"
        where = source.file or ""
        raise DescriptionError(
            [Finding("error", "missing-inertia", message, where, record.line, "inertial")]
        )
    made = cls.__new__(cls)
    made.from_file = True
    made.__init__(
        mass=record.mass,
        inertia=np.array(record.inertia),
        origin=pose_of(record),
        **by_tables(cls, {}, record.extra, source),
    )
    made.record = record
    made.from_file = False
    return made


def read_visual(cls: Any, record: records.Visual, source: Source) -> Any:
    """What is seen of a link."""
    material, kind = record.material, kind_of(cls, "material")
    values = {
        "name": record.name,
        "geometry": read_geometry(kind_of(cls, "geometry"), record.geometry, source),
        "material": (
            None if material is None else read_material(kind, material, source, inside=True)
        ),
    }
    return built(cls, record, values, source, origin=pose_of(record))


def read_collision(cls: Any, record: records.Collision, source: Source) -> Any:
    """What others bump into."""
    geometry = kind_of(cls, "geometry")
    values = {
        "name": record.name,
        "geometry": read_geometry(geometry, record.geometry, source, joined=True),
    }
    return built(cls, record, values, source, origin=pose_of(record))


_TAGS = {
    records.Box: "box",
    records.Cylinder: "cylinder",
    records.Sphere: "sphere",
    records.Capsule: "capsule",
    records.Mesh: "mesh",
}


def read_geometry(cls: Any, record: Any, source: Source, *, joined: bool = False) -> Any:
    """The geometry of a shape; its mesh is opened later."""
    tag = _TAGS[type(record)]
    made = read_shape(kind_of(cls, tag), record, source, joined=joined)
    return cls(**by_tables(cls, {tag: made}, (), source))


def read_shape(cls: Any, record: Any, source: Source, *, joined: bool = False) -> Any:
    """One shape."""
    if isinstance(record, records.Box):
        return built(cls, record, {"size": record.size}, source)
    if isinstance(record, records.Sphere):
        return built(cls, record, {"radius": record.radius}, source)
    if isinstance(record, records.Mesh):
        scale = None if record.scale == (1.0, 1.0, 1.0) else record.scale
        later = Later(source.file, source.allow, joined)
        values = {"filename": record.filename, "scale": scale}
        return built(cls, record, values, source, meshes=later)
    return built(cls, record, {"radius": record.radius, "length": record.length}, source)


def read_material(
    cls: Any, record: records.Material, source: Source, *, inside: bool = False
) -> Any:
    """A material; its image is opened later."""
    texture = None
    if record.texture:
        later = Later(source.file, source.allow)
        texture = kind_of(cls, "texture")(record.texture, image=later)
    values = {"name": record.name, "texture": texture}
    made = built(cls, record, values, source, color=record.rgba)
    made.inside = inside
    return made


def read_joint(cls: Any, record: records.Joint, source: Source) -> Any:
    """A joint with all that it has."""
    values: dict[str, Any] = {"name": record.name}
    for tag, part in (
        ("limit", record.limit),
        ("dynamics", record.dynamics),
        ("safety_controller", record.safety),
        ("calibration", record.calibration),
        ("mimic", record.mimic),
    ):
        values[tag] = None if part is None else read_joint_part(kind_of(cls, tag), part, source)
    return built(
        cls,
        record,
        values,
        source,
        joint_type=record.type,
        parent=record.parent,
        child=record.child,
        axis=record.axis if any(record.axis) else None,
        origin=pose_of(record),
    )


def read_joint_part(cls: Any, record: Any, source: Source) -> Any:
    """A limit, dynamics, a mimic, a safety controller or a calibration."""
    names = STANDARD[own_class(cls)].attributes
    return built(cls, record, {name: getattr(record, name) for name in names}, source)


def read_transmission(cls: Any, record: records.Transmission, source: Source) -> Any:
    """A transmission with its joints and actuators."""
    joint, actuator = kind_of(cls, "joints"), kind_of(cls, "actuators")
    values = {
        "name": record.name,
        "joints": [read_transmission_joint(joint, own, source) for own in record.joints],
        "actuators": [read_actuator(actuator, own, source) for own in record.actuators],
    }
    return built(cls, record, values, source, trans_type=record.type or "")


def read_transmission_joint(cls: Any, record: records.TransmissionJoint, source: Source) -> Any:
    """A joint of a transmission."""
    listed = list(record.hardware_interfaces)
    return built(cls, record, {"name": record.name}, source, hardwareInterfaces=listed)


def read_actuator(cls: Any, record: records.Actuator, source: Source) -> Any:
    """An actuator of a transmission."""
    return built(
        cls,
        record,
        {"name": record.name},
        source,
        mechanicalReduction=record.mechanical_reduction,
        hardwareInterfaces=list(record.hardware_interfaces),
    )


def added(cls: Any) -> tuple[list[str], list[str]]:
    """The names of attributes and of children that a class's tables have beyond the standard."""
    tables = STANDARD[own_class(cls)]
    return (
        [name for name in cls._ATTRIBS if name not in tables.attributes],
        [name for name in cls._ELEMENTS if name not in tables.elements],
    )


def added_tags(cls: Any) -> list[str]:
    """The tags of the children that a class's tables have beyond the standard."""
    return [cls._ELEMENTS[name][0]._TAG for name in added(cls)[1]]


def by_tables(
    cls: Any,
    values: dict[str, Any],
    extra: Sequence[records.ExtraElement | records.ExtraAttribute],
    source: Source,
) -> dict[str, Any]:
    """The keywords of a class: what was read, as far as its tables name it, and what they add.

    What is added comes from what the reader kept as unknown.

    Raises: InputError for something required that is not there, or that cannot be read.
    """
    if not changed(cls):
        return values
    tables = STANDARD[own_class(cls)]
    kept: dict[str, Any] = {}
    for name, value in values.items():
        kind, required, *_ = {**cls._ATTRIBS, **cls._ELEMENTS}.get(name, (None, False))
        if kind is None and (name in tables.attributes or name in tables.elements):
            continue
        if required and (value is None or value == []):
            raise missing(cls, f"'{name}'")
        standard_kind = tables.attributes.get(name, (kind,))[0]
        if value is None or kind is standard_kind or name in tables.elements:
            kept[name] = value
        else:
            kept[name] = parsed(cls, name, kind, unparsed(value))
    return {**kept, **_extensions(cls, extra, tables.tag, source)}


def _extensions(
    cls: Any,
    extra: Sequence[records.ExtraElement | records.ExtraAttribute],
    tag: str,
    source: Source,
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    names, children = added(cls)
    for name in names:
        kind, required = cls._ATTRIBS[name]
        text = next((a.value for a in _attributes(extra, tag) if a.name == name), None)
        if text is None and required:
            raise missing(cls, f"attribute '{name}'")
        values[name] = None if text is None else parsed(cls, name, kind, text)
    for name in children:
        kind, required, multiple = cls._ELEMENTS[name]
        folder = "" if source.file is None else os.path.dirname(source.file)
        own = _elements(extra, tag, kind._TAG)
        found = [kind._from_xml(ET.fromstring(e.xml), folder) for e in own]
        if not found and required:
            raise missing(cls, f"element <{kind._TAG}>")
        values[name] = found if multiple else (found or [None])[0]
    return values


def _attributes(extra: Iterable[Any], tag: str) -> Iterable[records.ExtraAttribute]:
    return (e for e in extra if isinstance(e, records.ExtraAttribute) and e.within == tag)


def _elements(extra: Iterable[Any], tag: str, own: str) -> Iterable[records.ExtraElement]:
    return (
        e for e in extra if isinstance(e, records.ExtraElement) and e.within == tag and e.tag == own
    )


# writing


class Writer:
    """What has been written of a robot so far: which materials have been defined."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot
        self.defined: set[str] = set()

    def record(self) -> records.Robot:
        """The whole robot.

        Raises: InputError for an origin that is mirrored or flat.
        """
        robot = self.robot
        shown = [shape for link in robot.links for shape in link.visuals]
        inside = {id(v.material) for v in shown if v.material is not None and v.material.inside}
        beside = [m for m in robot.materials if not m.inside or id(m) not in inside]
        as_read = [_unchanged(shape) for shape in shown]
        self.defined = {material.name for material in beside} | {
            material.name for material in as_read if material is not None and _defines(material)
        }
        base = robot.record or records.Robot(robot.name)
        made = replace(
            base,
            name=robot.name,
            links=tuple(self.link(link) for link in robot.links),
            joints=tuple(joint_record(joint) for joint in robot.joints),
            transmissions=tuple(transmission_record(own) for own in robot.transmissions),
            materials=tuple(material_record(material) for material in beside),
        )
        return replace(made, extra=robot.extras(extended(robot, base.extra, "robot")))

    def link(self, link: Link) -> records.Link:
        """One link with all that it has."""
        base = link.record or records.Link(link.name)
        inertial = link.weight()
        return replace(
            base,
            name=link.name,
            inertial=None if inertial is None else inertial_record(inertial),
            visuals=tuple(self._visual(shape, link.name) for shape in link.visuals),
            collisions=tuple(
                _shown(records.Collision, shape, link.name) for shape in link.collisions
            ),
            extra=extended(link, base.extra, "link"),
        )

    def _visual(self, shape: Any, link: str) -> records.Visual:
        """One visual; a material is written in full where it is first used, unless beside."""
        made = _shown(records.Visual, shape, link)
        return replace(made, material=self._material(shape))

    def _material(self, shape: Visual) -> records.Material | None:
        material: Material | None = shape.material
        if material is None:
            return None
        as_read = _unchanged(shape)
        bare = not material.looks
        if as_read is not None and (_defines(as_read) or bare or material.name in self.defined):
            return as_read
        if material.name and material.name in self.defined:
            return records.Material(material.name)
        if material.name:
            self.defined.add(material.name)
        return material_record(material)


def _unchanged(shape: Visual) -> records.Material | None:
    """The material of a visual as it was read, where it is the same and looks the same."""
    material, record = shape.material, shape.record
    if material is None or record is None or shape.worn != (material, material.look()):
        return None
    as_read: records.Material | None = record.material
    return as_read


def _defines(material: records.Material) -> bool:
    return material.rgba is not None or bool(material.texture)


def _shown(kind: Any, shape: Any, link: str) -> Any:
    base = shape.record or kind(shape.name, records.ZERO, records.ZERO, None)
    what = f"link '{link}', {shape._TAG} '{shape.name or ''}'"
    xyz, rpy = origin_numbers(shape, what)
    try:
        own = shape.geometry.geometry
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    return replace(
        base,
        name=shape.name,
        xyz=xyz,
        rpy=rpy,
        geometry=shape_record(own),
        extra=extended(shape, base.extra, shape._TAG),
    )


_NOTHING: records.Matrix3 = (records.ZERO, records.ZERO, records.ZERO)


def three(array: Any) -> tuple[float, float, float]:
    """Three numbers as a record has them."""
    x, y, z = np.asarray(array, np.float64).tolist()
    return x, y, z


def origin_numbers(owner: Any, what: str) -> tuple[records.Vector3, records.Vector3]:
    """xyz and rpy of an origin: as they were read, where it is still what they give.

    Where the upper left part scales too, which no file can say, its rotation is written, with a
    warning.

    Raises: InputError where it is mirrored or flat, or not finite.
    """
    origin: Floats = owner.__dict__["_origin"]
    record = owner.record
    if record is not None:
        as_read = pose_of(record)
        if np.array_equal(origin, as_read):
            return record.xyz, record.rpy
        if np.array_equal(origin[:3, :3], as_read[:3, :3]):
            return three(origin[:3, 3]), record.rpy
    if not np.isfinite(origin).all():
        raise InputError(f"{what}: its origin is not finite")
    try:
        R, said = nearest_rotation(origin[:3, :3])
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    if said:
        warnings.warn(f"{what}: {said}", stacklevel=outside())
    return three(origin[:3, 3]), three(matrix_to_rpy(R) + 0.0)  # so that none is -0


def shape_record(shape: Any) -> records.Shape:
    """A box, cylinder, sphere, capsule or mesh."""
    base: Any = shape.record
    if isinstance(shape, Box):
        base = replace(base or records.Box(records.ZERO), size=three(shape.size))
    elif isinstance(shape, Cylinder):
        base = base or records.Cylinder(1.0, 1.0)
        base = replace(base, radius=shape.radius, length=shape.length)
    elif isinstance(shape, Capsule):
        base = base or records.Capsule(1.0, 1.0)
        base = replace(base, radius=shape.radius, length=shape.length)
    elif isinstance(shape, Sphere):
        base = replace(base or records.Sphere(1.0), radius=shape.radius)
    elif isinstance(shape, Mesh):
        scale = (1.0, 1.0, 1.0) if shape.scale is None else three(shape.scale)
        base = replace(base or records.Mesh(""), filename=shape.filename, scale=scale)
    tag = type(base).__name__.lower()
    return replace(base, extra=extended(shape, base.extra, tag))


def inertial_record(inertial: Inertial) -> records.Inertial:
    """Mass and inertia; of the matrix the upper half counts."""
    base = inertial.record or records.Inertial(records.ZERO, records.ZERO, 0.0, _NOTHING)
    xyz, rpy = origin_numbers(inertial, "an inertial")
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertial.inertia.tolist()
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    extra = extended(inertial, base.extra, "inertial")
    return replace(base, xyz=xyz, rpy=rpy, mass=inertial.mass, inertia=inertia, extra=extra)


def material_record(material: Material) -> records.Material:
    """A material in full."""
    base = material.record or records.Material(material.name)
    rgba: Any = None if material.color is None else tuple(material.color.tolist())
    if base.rgba is not None and rgba == tuple(np.clip(base.rgba, 0.0, 1.0).tolist()):
        rgba = base.rgba
    texture = None if material.texture is None else material.texture.filename
    extra = extended(material, base.extra, "material")
    return replace(base, name=material.name, rgba=rgba, texture=texture, extra=extra)


_PARTS = {
    "limit": records.Limit,
    "dynamics": records.Dynamics,
    "mimic": records.Mimic,
    "safety_controller": records.Safety,
    "calibration": records.Calibration,
}
_FIELDS = {"safety_controller": "safety"}


def joint_record(joint: Joint) -> records.Joint:
    """A joint with all that it has.

    Raises: InputError for one that lacks a limit, or an origin that is mirrored or flat.
    """
    if lacks_limit(joint):
        raise InputError(f"joint '{joint.name}': {lacks_limit(joint)}")
    base = joint.record or records.Joint(joint.name, joint.joint_type, joint.parent, joint.child)
    xyz, rpy = origin_numbers(joint, f"joint '{joint.name}'")
    parts = {_FIELDS.get(tag, tag): part_record(tag, getattr(joint, tag)) for tag in _PARTS}
    return replace(
        base,
        name=joint.name,
        type=joint.joint_type,
        parent=joint.parent,
        child=joint.child,
        xyz=xyz,
        rpy=rpy,
        axis=_axis(joint),
        extra=extended(joint, base.extra, "joint"),
        **parts,
    )


def _axis(joint: Joint) -> records.Vector3:
    axis: Floats = joint.__dict__["_axis"]
    if joint.record is not None:
        written: records.Vector3 = joint.record.axis
        as_read = direction("axis", written) if any(written) else None
        as_read = np.array([1.0, 0.0, 0.0]) if as_read is None else as_read
        unused = joint.joint_type in ("fixed", "floating")
        if np.array_equal(axis, as_read) and (any(written) or unused):
            return written
    return three(axis)


def part_record(tag: str, part: Any) -> Any:
    """A limit, dynamics and so on; an absent bound is None in a record, and none is infinite."""
    if part is None:
        return None
    base = part.record
    values: dict[str, Any] = {}
    for name in _ATTRIBUTES[tag]:
        value = getattr(part, name)
        before = None if base is None else getattr(base, name)
        if name in ("lower", "upper") and value is not None and math.isinf(value):
            value = None
        if value is None and tag == "dynamics":
            value = 0.0
        if base is not None and before is None and value == 0.0 and tag == "safety_controller":
            value = None  # what the file left out reads as 0
        values[name] = value
    made = replace(base, **values) if base is not None else _PARTS[tag](**values)
    return replace(made, extra=extended(part, made.extra, tag))


_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "safety_controller": ("k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"),
    "calibration": ("rising", "falling"),
}


def transmission_record(transmission: Transmission) -> records.Transmission:
    """A transmission with its joints and actuators."""
    base = transmission.record or records.Transmission(transmission.name)
    return replace(
        base,
        name=transmission.name,
        type=transmission.trans_type or None,
        joints=tuple(
            _driven(own.record or records.TransmissionJoint(own.name), own, "joint")
            for own in transmission.joints
        ),
        actuators=tuple(
            replace(
                _driven(own.record or records.Actuator(own.name), own, "actuator"),
                mechanical_reduction=own.mechanicalReduction,
            )
            for own in transmission.actuators
        ),
        extra=extended(transmission, base.extra, "transmission"),
    )


def _driven(base: Any, own: Any, tag: str) -> Any:
    return replace(
        base,
        name=own.name,
        hardware_interfaces=tuple(own.hardwareInterfaces),
        extra=extended(own, base.extra, tag),
    )


def extended(owner: Any, extra: records.Extra, tag: str) -> records.Extra:
    """What a record keeps as unknown, with what a program's tables add in its present state."""
    names, children = added(type(owner))
    if not names and not children:
        return extra
    replaced = {("attribute", name) for name in names}
    replaced |= {("element", own) for own in added_tags(type(owner))}
    kept = [
        e
        for e in extra
        if e.within != tag
        or (("element", e.tag) if isinstance(e, records.ExtraElement) else ("attribute", e.name))
        not in replaced
    ]
    made: list[records.ExtraElement | records.ExtraAttribute] = []
    for name in names:
        value = getattr(owner, name)
        if value is not None:
            made.append(records.ExtraAttribute(tag, name, unparsed(value)))
    for name in children:
        kind, _, multiple = type(owner)._ELEMENTS[name]
        held = getattr(owner, name)
        for child in (held or []) if multiple else [held]:
            if child is not None:
                xml = ET.tostring(child._to_xml(None, ""), encoding="unicode")
                made.append(records.ExtraElement(tag, kind._TAG, xml))
    return (*kept, *made)
