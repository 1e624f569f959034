"""The whole URDF format as one table: every element, its attributes and children.

Reading, writing and validation all follow this table; none of them knows an element by name. An
element with a ``record`` becomes one; an element without (``<origin>``, ``<mass>``) puts its
attributes straight into the fields of the record it stands in.

Source: https://wiki.ros.org/urdf/XML (robot, link, joint, transmission), and the XSD of urdfdom.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from linkwork.formats.urdf import records

JOINT_TYPES = ("fixed", "prismatic", "revolute", "continuous", "floating", "planar", "spherical")
"""The types that a joint may have; the last is an extension that MuJoCo and Bullet read too."""

Need = Literal["error", "warning"]
"""How bad it is when something is missing or doubled: an error, or a finding."""


class Kind(Enum):
    """What the text of an attribute means; `convert` reads each of them."""

    NAME = "a name that is not empty"
    LABEL = "any text"
    CONTENT = "a text without white space around it"
    JOINT_TYPE = "one of the joint types"
    NUMBER = "a number"
    FACTOR = "a number that others are multiplied by"
    POSITIVE = "a number above zero"
    NOT_NEGATIVE = "a number not below zero"
    LENGTHS = "three numbers, metre"
    ANGLES = "three numbers, radian"
    DIRECTION = "three numbers, a direction"
    SIZES = "three numbers above zero"
    SCALES = "three numbers other than zero"
    RGBA = "four numbers from 0 to 1"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its name, what its text means, and the field of the record it fills."""

    name: str
    kind: Kind
    field: str = ""  # the attribute's own name where empty
    required: Need | None = None
    default: Any = None
    faulty: Need = "error"  # a text without a value; a finding leaves None, and keeps the text

    @property
    def target(self) -> str:
        """The field that the value goes to."""
        return self.field or self.name


@dataclass(frozen=True, slots=True)
class Child:
    """A place for an element inside another one.

    Children that share a field are alternatives: one of them may stand there.
    """

    element: Element
    field: str = ""  # empty for an element without a record: its attributes know their fields
    repeated: bool = False
    required: Need | None = None
    doubled: Need = "warning"


@dataclass(frozen=True, slots=True)
class Element:
    """One element. ``packed`` is the field that a symmetric matrix of six attributes goes to.

    Where one of these is missing the field is None, and the others stay as texts of the record.
    """

    tag: str
    record: type | None = None
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Child, ...] = ()
    text: bool = False
    packed: str = ""


def _number(name: str, kind: Kind = Kind.NUMBER, **options: Any) -> Attribute:
    return Attribute(name, kind, **options)


def _needed(name: str, kind: Kind, **options: Any) -> Attribute:
    return Attribute(name, kind, required="error", **options)


def _label(name: str, **options: Any) -> Attribute:
    return Attribute(name, Kind.LABEL, **options)


ORIGIN = Element(
    "origin",
    attributes=(
        Attribute("xyz", Kind.LENGTHS, default=records.ZERO),
        Attribute("rpy", Kind.ANGLES, default=records.ZERO),
    ),
)

INERTIAL = Element(
    "inertial",
    records.Inertial,
    children=(
        Child(ORIGIN),
        Child(
            Element(
                "mass",
                attributes=(_number("value", Kind.FACTOR, field="mass", required="warning"),),
            )
        ),
        Child(
            Element(
                "inertia",
                attributes=tuple(
                    _number(name, Kind.FACTOR, required="warning")
                    for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
                ),
                packed="inertia",
            ),
        ),
    ),
)

_ROUND = (_needed("radius", Kind.POSITIVE), _needed("length", Kind.POSITIVE))

SHAPES = (
    Element("box", records.Box, (_needed("size", Kind.SIZES),)),
    Element("cylinder", records.Cylinder, _ROUND),
    Element("sphere", records.Sphere, (_needed("radius", Kind.POSITIVE),)),
    Element("capsule", records.Capsule, _ROUND),
    Element(
        "mesh",
        records.Mesh,
        (
            _label("filename", required="warning", default=""),
            Attribute("scale", Kind.SCALES, default=(1.0, 1.0, 1.0), faulty="warning"),
        ),
    ),
)

GEOMETRY = Element(
    "geometry",
    children=tuple(Child(shape, "geometry", required="warning") for shape in SHAPES),
)

MATERIAL = Element(
    "material",
    records.Material,
    (_label("name", default=""),),
    (
        Child(
            Element(
                "color",
                attributes=(Attribute("rgba", Kind.RGBA, required="warning", faulty="warning"),),
            )
        ),
        Child(
            Element(
                "texture",
                attributes=(_label("filename", field="texture", required="warning"),),
            )
        ),
    ),
)

_SHOWN = (
    Child(ORIGIN),
    Child(GEOMETRY, required="warning"),
    Child(MATERIAL, "material"),
)

LINK = Element(
    "link",
    records.Link,
    (_needed("name", Kind.NAME),),
    (
        Child(INERTIAL, "inertial"),
        Child(
            Element("visual", records.Visual, (_label("name"),), _SHOWN), "visuals", repeated=True
        ),
        Child(
            Element("collision", records.Collision, (_label("name"),), _SHOWN),
            "collisions",
            repeated=True,
        ),
    ),
)

LIMIT = Element(
    "limit",
    records.Limit,
    (
        _number("lower"),
        _number("upper"),
        _number("effort", Kind.NOT_NEGATIVE, required="warning"),
        _number("velocity", Kind.NOT_NEGATIVE, required="warning"),
    ),
)

DYNAMICS = Element(
    "dynamics",
    records.Dynamics,
    (
        _number("damping", Kind.NOT_NEGATIVE, default=0.0),
        _number("friction", Kind.NOT_NEGATIVE, default=0.0),
    ),
)

MIMIC = Element(
    "mimic",
    records.Mimic,
    (
        _needed("joint", Kind.NAME),
        _number("multiplier", Kind.FACTOR, default=1.0),
        _number("offset", Kind.FACTOR, default=0.0),
    ),
)

SAFETY = Element(
    "safety_controller",
    records.Safety,
    (
        _number("k_velocity", required="warning"),
        _number("k_position", default=0.0),
        _number("soft_lower_limit"),
        _number("soft_upper_limit"),
    ),
)

CALIBRATION = Element(
    "calibration",
    records.Calibration,
    (_number("rising"), _number("falling"), _number("reference_position")),
)


def _end(tag: str) -> Child:
    """The link at one end of a joint."""
    attributes = (_needed("link", Kind.NAME, field=tag),)
    return Child(Element(tag, attributes=attributes), required="error", doubled="error")


JOINT = Element(
    "joint",
    records.Joint,
    (_needed("name", Kind.NAME), _needed("type", Kind.JOINT_TYPE)),
    (
        Child(ORIGIN, doubled="error"),
        _end("parent"),
        _end("child"),
        Child(
            Element(
                "axis",
                attributes=(
                    Attribute(
                        "xyz",
                        Kind.DIRECTION,
                        field="axis",
                        required="warning",
                        default=(1.0, 0.0, 0.0),
                    ),
                ),
            ),
        ),
        Child(LIMIT, "limit", doubled="error"),
        Child(DYNAMICS, "dynamics"),
        Child(MIMIC, "mimic", doubled="error"),
        Child(SAFETY, "safety"),
        Child(CALIBRATION, "calibration"),
    ),
)

_INTERFACE = Child(Element("hardwareInterface", text=True), "hardware_interfaces", repeated=True)
_REDUCTION = Child(Element("mechanicalReduction", text=True), "mechanical_reduction")
_LABELLED = (_label("name", required="warning", default=""),)

TRANSMISSION = Element(
    "transmission",
    records.Transmission,
    (*_LABELLED, Attribute("type", Kind.CONTENT)),  # the form of ROS before 2011
    (
        Child(Element("type", text=True), "type"),
        Child(
            Element("joint", records.TransmissionJoint, _LABELLED, (_INTERFACE, _REDUCTION)),
            "joints",
            repeated=True,
        ),
        Child(
            Element("actuator", records.Actuator, _LABELLED, (_REDUCTION, _INTERFACE)),
            "actuators",
            repeated=True,
        ),
    ),
)

ROBOT = Element(
    "robot",
    records.Robot,
    (_needed("name", Kind.NAME), _label("version")),
    (
        Child(LINK, "links", repeated=True),
        Child(JOINT, "joints", repeated=True),
        Child(TRANSMISSION, "transmissions", repeated=True),
        Child(MATERIAL, "materials", repeated=True),
    ),
)
"""The root: everything else hangs below it."""
