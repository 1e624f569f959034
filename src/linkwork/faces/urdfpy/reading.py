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

from linkwork.errors import DescriptionError, Problem
from linkwork.faces.urdfpy.base import missing, own_class, parsed
from linkwork.faces.urdfpy.shapes import Later
from linkwork.faces.urdfpy.values import IDENTITY
from linkwork.formats.urdf import records
from linkwork.locating import Folders
from linkwork.mechanism.from_urdf import rotation_from_rpy

Floats = NDArray[np.float64]

FAULTS = frozenset({"duplicate-transmission", "transmission-type", "transmission-joint"})
"""Findings of the reader that are errors here, as the original documents them."""

STRICT = frozenset({"inertia", "triangle", "mass", "material-differs", "transmission-parts"})
"""Findings that are errors too when a description is loaded with ``strict=True``."""


@dataclass
class Source:
    """Where a description comes from, and what this face finds wrong with it."""

    file: str | None = None
    allow: Folders = ()
    problems: list[Problem] = field(default_factory=list[Problem])

    def wrong(self, element: str, record: Any, message: str, code: str = "missing-element") -> None:
        """Note an error."""
        name = getattr(record, "name", None) or ""
        self.problems.append(
            Problem("error", code, message, self.file or "", record.line, element, name)
        )


NOWHERE = Source()
"""For parts that have no files."""


def escalated(document: records.Document, source: Source, *, strict: bool) -> None:
    """Note as errors the findings of the reader that are errors here."""
    codes = FAULTS | STRICT if strict else FAULTS
    source.problems += [
        replace(problem, level="error") for problem in document.problems if problem.code in codes
    ]


def checked_against(robot: records.Robot, source: Source) -> None:
    """Note what this face needs and the reader does not.

    Raises: DescriptionError with all that has been noted.
    """
    for joint in robot.joints:
        _check_joint(joint, source)
    for link in robot.links:
        for shown in (*link.visuals, *link.collisions):
            if shown.geometry is None:
                source.wrong("geometry", shown, f"link '{link.name}' has a shape without geometry")
            elif isinstance(shown.geometry, records.Mesh) and not shown.geometry.filename:
                source.wrong(
                    "mesh", shown.geometry, f"link '{link.name}' has a mesh without a name"
                )
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


def _check_joint(joint: records.Joint, source: Source) -> None:
    limit, safety = joint.limit, joint.safety
    if limit is None and joint.type in ("revolute", "prismatic"):
        source.wrong("joint", joint, f"a {joint.type} joint needs a <limit>", "missing-limits")
    for name in ("effort", "velocity"):
        if limit is not None and getattr(limit, name) is None:
            text = f"the limit of joint '{joint.name}' has no '{name}'"
            source.wrong("limit", limit, text, "missing-attribute")
    if safety is not None and safety.k_velocity is None:
        text = f"the safety controller of joint '{joint.name}' has no 'k_velocity'"
        source.wrong("safety_controller", safety, text, "missing-attribute")


def read_robot(cls: Any, robot: records.Robot, source: Source) -> Any:
    """The URDF of a description that has been checked."""
    table = cls._ELEMENTS
    links = [read_link(table["link"][0], link, source) for link in robot.links]
    joints = [read_joint(table["joint"][0], joint) for joint in robot.joints]
    drives = [read_transmission(table["transmission"][0], own) for own in robot.transmissions]
    materials = [read_material(table["material"][0], own, source) for own in robot.materials]
    made = cls.__new__(cls)
    made.judged = [links, joints, drives, materials]
    made.__init__(
        name=robot.name,
        links=links,
        joints=joints,
        transmissions=drives,
        materials=materials,
        **extensions(cls, robot.extra, "robot", source),
    )
    made.record, made.judged = robot, None
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
    table = cls._ELEMENTS
    inertial = record.inertial
    made = cls(
        name=record.name,
        inertial=None if inertial is None else read_inertial(table["inertial"][0], inertial),
        visuals=[read_visual(table["visual"][0], own, source) for own in record.visuals],
        collisions=[
            read_collision(table["collision"][0], own, source) for own in record.collisions
        ],
        **extensions(cls, record.extra, "link", source),
    )
    made.record = record
    return made


def read_inertial(cls: Any, record: records.Inertial) -> Any:
    """Mass and inertia; the reader has judged them already."""
    made = cls.__new__(cls)
    made.from_file = True
    made.__init__(mass=record.mass, inertia=np.array(record.inertia), origin=pose_of(record))
    made.record = record
    made.from_file = False
    return made


def read_visual(cls: Any, record: records.Visual, source: Source) -> Any:
    """What is seen of a link."""
    material = record.material
    made = cls(
        geometry=read_geometry(cls._ELEMENTS["geometry"][0], record.geometry, source),
        name=record.name,
        origin=pose_of(record),
        material=(
            None
            if material is None
            else read_material(cls._ELEMENTS["material"][0], material, source, inside=True)
        ),
        **extensions(cls, record.extra, "visual", source),
    )
    made.record = record
    return made


def read_collision(cls: Any, record: records.Collision, source: Source) -> Any:
    """What others bump into."""
    geometry = cls._ELEMENTS["geometry"][0]
    made = cls(
        name=record.name,
        origin=pose_of(record),
        geometry=read_geometry(geometry, record.geometry, source, joined=True),
        **extensions(cls, record.extra, "collision", source),
    )
    made.record = record
    return made


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
    made = read_shape(cls._ELEMENTS[tag][0], record, source, joined=joined)
    return cls(**{tag: made})


def read_shape(cls: Any, record: Any, source: Source, *, joined: bool = False) -> Any:
    """One shape."""
    if isinstance(record, records.Box):
        values: dict[str, Any] = {"size": record.size}
    elif isinstance(record, records.Sphere):
        values = {"radius": record.radius}
    elif isinstance(record, records.Mesh):
        scale = None if record.scale == (1.0, 1.0, 1.0) else record.scale
        later = Later(source.file, source.allow, joined)
        values = {"filename": record.filename, "scale": scale, "meshes": later}
    else:
        values = {"radius": record.radius, "length": record.length}
    made = cls(**values, **extensions(cls, record.extra, _TAGS[type(record)], source))
    made.record = record
    return made


def read_material(
    cls: Any, record: records.Material, source: Source, *, inside: bool = False
) -> Any:
    """A material; its image is opened later."""
    texture = None
    if record.texture:
        later = Later(source.file, source.allow)
        texture = cls._ELEMENTS["texture"][0](record.texture, image=later)
    made = cls(
        name=record.name,
        color=record.rgba,
        texture=texture,
        **extensions(cls, record.extra, "material", source),
    )
    made.record, made.inside = record, inside
    return made


def read_joint(cls: Any, record: records.Joint) -> Any:
    """A joint with all that it has."""
    table, zero = cls._ELEMENTS, not any(record.axis)
    parts = {
        "limit": record.limit,
        "dynamics": record.dynamics,
        "safety_controller": record.safety,
        "calibration": record.calibration,
        "mimic": record.mimic,
    }
    made = cls(
        name=record.name,
        joint_type=record.type,
        parent=record.parent,
        child=record.child,
        axis=None if zero else record.axis,
        origin=pose_of(record),
        **{
            tag: None if part is None else read_joint_part(table[tag][0], part)
            for tag, part in parts.items()
        },
        **extensions(cls, record.extra, "joint", NOWHERE),
    )
    made.record = record
    return made


def read_joint_part(cls: Any, record: Any) -> Any:
    """A limit, dynamics, a mimic, a safety controller or a calibration."""
    names = own_class(cls).__dict__["_ATTRIBS"]
    values = {name: getattr(record, name) for name in names}
    made = cls(**values, **extensions(cls, record.extra, cls._TAG, NOWHERE))
    made.record = record
    return made


def read_transmission(cls: Any, record: records.Transmission) -> Any:
    """A transmission with its joints and actuators."""
    joint, actuator = cls._ELEMENTS["joint"][0], cls._ELEMENTS["actuator"][0]
    made = cls(
        name=record.name,
        trans_type=record.type or "",
        joints=[read_transmission_joint(joint, own) for own in record.joints],
        actuators=[read_actuator(actuator, own) for own in record.actuators],
        **extensions(cls, record.extra, "transmission", NOWHERE),
    )
    made.record = record
    return made


def read_transmission_joint(cls: Any, record: records.TransmissionJoint) -> Any:
    """A joint of a transmission."""
    made = cls(
        name=record.name,
        hardwareInterfaces=list(record.hardware_interfaces),
        **extensions(cls, record.extra, "joint", NOWHERE),
    )
    made.record = record
    return made


def read_actuator(cls: Any, record: records.Actuator) -> Any:
    """An actuator of a transmission."""
    made = cls(
        name=record.name,
        mechanicalReduction=record.mechanical_reduction,
        hardwareInterfaces=list(record.hardware_interfaces),
        **extensions(cls, record.extra, "actuator", NOWHERE),
    )
    made.record = record
    return made


def added(cls: Any) -> tuple[list[str], list[str]]:
    """The attributes and the tags that a subclass' tables name beyond the standard."""
    own: Any = own_class(cls)
    if own is cls:
        return [], []
    return (
        [name for name in cls._ATTRIBS if name not in own._ATTRIBS],
        [tag for tag in cls._ELEMENTS if tag not in own._ELEMENTS],
    )


def extensions(
    cls: Any,
    extra: Sequence[records.ExtraElement | records.ExtraAttribute],
    tag: str,
    source: Source,
) -> dict[str, Any]:
    """The keywords of what a subclass adds, from what the reader kept as unknown.

    Raises: InputError for something required that is not there, or that cannot be read.
    """
    values: dict[str, Any] = {}
    if own_class(cls) is cls:  # as most are
        return values
    names, tags = added(cls)
    for name in names:
        kind, required = cls._ATTRIBS[name]
        text = next((a.value for a in _attributes(extra, tag) if a.name == name), None)
        if text is None and required:
            raise missing(cls, f"attribute '{name}'")
        values[name] = None if text is None else parsed(cls, name, kind, text)
    for own in tags:
        kind, required, multiple = cls._ELEMENTS[own]
        folder = "" if source.file is None else os.path.dirname(source.file)
        found = [kind._from_xml(ET.fromstring(e.xml), folder) for e in _elements(extra, tag, own)]
        if not found and required:
            raise missing(cls, f"element <{own}>")
        values[f"{own}s" if multiple else own] = found if multiple else (found or [None])[0]
    return values


def _attributes(extra: Iterable[Any], tag: str) -> Iterable[records.ExtraAttribute]:
    return (e for e in extra if isinstance(e, records.ExtraAttribute) and e.within == tag)


def _elements(extra: Iterable[Any], tag: str, own: str) -> Iterable[records.ExtraElement]:
    return (
        e for e in extra if isinstance(e, records.ExtraElement) and e.within == tag and e.tag == own
    )
