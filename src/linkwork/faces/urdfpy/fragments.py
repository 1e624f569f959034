"""Row S2-030: single elements from XML and to XML, by the reader and the writer of whole files.

An element is put into the smallest description that can hold it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import description, files
from linkwork.faces.urdfpy.base import READERS, STANDARD, WRITERS, own_class
from linkwork.faces.urdfpy.description import Source
from linkwork.faces.urdfpy.joint import (
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)
from linkwork.faces.urdfpy.link import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Material,
    Mesh,
    Sphere,
    Visual,
)
from linkwork.faces.urdfpy.robot import URDF
from linkwork.faces.urdfpy.transmission import Actuator, Transmission, TransmissionJoint
from linkwork.formats.urdf import records
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.write import to_text

_JOINT = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>'


class _Place(NamedTuple):
    """Where an element of a class stands in a description, and how to get at its record."""

    before: str
    after: str
    record: Callable[[records.Robot], Any]
    read: Callable[[Any, Any, Source], Any]


def _shape(read: Callable[[Any, Any, Source], Any]) -> _Place:
    before = '<link name="l"><visual><geometry>'
    return _Place(
        before, "</geometry></visual></link>", lambda r: r.links[0].visuals[0].geometry, read
    )


def _joint_part(field: str) -> _Place:
    return _Place(
        _JOINT,
        "</joint>",
        lambda r: getattr(r.joints[0], field),
        description.read_joint_part,
    )


_DRIVE = '<transmission name="t">'

_PLACES: dict[type, _Place] = {
    **{kind: _shape(description.read_shape) for kind in (Box, Capsule, Cylinder, Mesh, Sphere)},
    Geometry: _Place(
        '<link name="l"><visual>',
        "</visual></link>",
        lambda r: r.links[0].visuals[0].geometry,
        description.read_geometry,
    ),
    Material: _Place("", "", lambda r: r.materials[0], description.read_material),
    Inertial: _Place(
        '<link name="l">',
        "</link>",
        lambda r: r.links[0].inertial,
        description.read_inertial,
    ),
    Visual: _Place(
        '<link name="l">', "</link>", lambda r: r.links[0].visuals[0], description.read_visual
    ),
    Collision: _Place(
        '<link name="l">', "</link>", lambda r: r.links[0].collisions[0], description.read_collision
    ),
    Link: _Place("", "", lambda r: r.links[0], description.read_link),
    JointCalibration: _joint_part("calibration"),
    JointDynamics: _joint_part("dynamics"),
    JointLimit: _joint_part("limit"),
    JointMimic: _joint_part("mimic"),
    SafetyController: _joint_part("safety"),
    Joint: _Place("", "", lambda r: r.joints[0], description.read_joint),
    Actuator: _Place(
        _DRIVE,
        "</transmission>",
        lambda r: r.transmissions[0].actuators[0],
        description.read_actuator,
    ),
    TransmissionJoint: _Place(
        _DRIVE,
        "</transmission>",
        lambda r: r.transmissions[0].joints[0],
        description.read_transmission_joint,
    ),
    Transmission: _Place(
        "",
        "",
        lambda r: r.transmissions[0],
        description.read_transmission,
    ),
    URDF: _Place("", "", lambda r: r, description.read_robot),
}


def from_xml(cls: Any, node: Any, path: str, lazy_load_meshes: bool | None = None) -> Any:
    """The object of a class of this face that an XML element describes.

    Its meshes are opened at once with ``lazy_load_meshes=False``.

    Raises: DescriptionError for what is missing or wrong.
    """
    own = own_class(cls)
    place = _PLACES[own]
    text = ET.tostring(_plain(node), encoding="unicode")
    if own is not URDF:
        text = f'<robot name="r">{place.before}{text}{place.after}</robot>'
    problems = Findings(None)
    robot = Reader(text.encode(), problems).read()
    if robot is None or problems.failed:
        raise problems.error()
    source = Source(os.path.join(path, "element.urdf") if path else None)
    if own is URDF:
        problems_of(robot)
    description.checked_against(cls, robot, source)
    made = place.read(cls, place.record(robot), source)
    if lazy_load_meshes is False:
        files.open_all(made)
    return made


def problems_of(robot: records.Robot) -> None:
    """Refuse transmissions without what they need, as a file's are."""
    source = Source()
    for transmission in robot.transmissions:
        if not (transmission.type and transmission.joints and transmission.actuators):
            text = "a transmission needs a <type>, a <joint> and an <actuator>"
            source.wrong("transmission", transmission, text)
    if source.problems:
        raise DescriptionError(source.problems)


def _plain(node: Any) -> Any:
    """The element as one of ``xml.etree``; one of lxml has the same attributes."""
    made = ET.Element(str(node.tag), {str(k): str(v) for k, v in node.attrib.items()})
    made.text = node.text
    for child in node:
        if isinstance(child.tag, str):  # comments have a function there
            inner = _plain(child)
            inner.tail = child.tail
            made.append(inner)
    return made


_FIELDS: dict[type, str] = {
    JointCalibration: "calibration",
    JointDynamics: "dynamics",
    JointLimit: "limit",
    JointMimic: "mimic",
    SafetyController: "safety",
}


def to_xml(value: Any, path: str) -> Any:
    """The XML element of an object of this face.

    Raises: InputError for values that no file could hold.
    """
    del path
    own = own_class(type(value))
    root = ET.fromstring(to_text(_around(own, value)).encode())
    if own is URDF:
        return root
    element = next(e for e in root.iter(STANDARD[own].tag) if _is_it(root, e, own))
    element.tag, element.tail = type(value)._TAG, None
    return element


def _is_it(root: Any, element: Any, own: type) -> bool:
    """Whether an element is the one asked for: a transmission's joint is no joint of the robot."""
    return own is not TransmissionJoint or element not in list(root)


def _around(own: type, value: Any) -> records.Robot:
    """The smallest description that holds an object."""
    if own is URDF:
        return description.Writer(value).record()
    if own in _FIELDS:
        part = description.part_record(STANDARD[own].tag, value)
        held = records.Joint("j", "fixed", "a", "b", **{_FIELDS[own]: part})
        return records.Robot("r", joints=(held,))
    if own in _BESIDE:
        field, record = _BESIDE[own]
        held_there: Any = {field: (record(value),)}
        return records.Robot("r", **held_there)
    if own in (Actuator, TransmissionJoint):
        joints = [value] if own is TransmissionJoint else []
        drive = Transmission("t", "", joints, [value] if own is Actuator else [])
        return records.Robot("r", transmissions=(description.transmission_record(drive),))
    link = Link("l", None, None, None)
    if own is Inertial:
        link.inertial = value
    elif own is Visual:
        link.visuals = [value]
    else:
        shape = value if own is Collision else Collision(None, None, _geometry(own, value))
        link.collisions = [shape]
    return records.Robot("r", links=(_link_record(link),))


def _link_record(link: Link) -> records.Link:
    return description.Writer(None).link(link)


_BESIDE: dict[type, tuple[str, Callable[[Any], Any]]] = {
    Link: ("links", _link_record),
    Joint: ("joints", description.joint_record),
    Material: ("materials", description.material_record),
    Transmission: ("transmissions", description.transmission_record),
}


def _geometry(own: type, value: Any) -> Geometry:
    return value if own is Geometry else Geometry(**{own.__name__.lower(): value})


READERS.update(dict.fromkeys(_PLACES, from_xml))
WRITERS.update(dict.fromkeys(_PLACES, to_xml))
