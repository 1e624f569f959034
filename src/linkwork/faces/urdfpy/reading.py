"""From records of `linkwork.formats.urdf` to the objects of this face.

The classes come from the tables of the owner's class, so that a program's own subclasses are used;
what their tables name beyond the standard is taken from what the reader kept as unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import DescriptionError, Finding
from linkwork.faces.urdfpy.base import STANDARD, changed, missing, own_class, parsed, unparsed
from linkwork.faces.urdfpy.shapes import Later
from linkwork.faces.urdfpy.values import IDENTITY
from linkwork.formats.urdf import records
from linkwork.locating import Folders
from linkwork.mechanism.from_urdf import rotation_from_rpy

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
