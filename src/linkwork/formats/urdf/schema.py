"""The whole URDF format as one table: every element, its attributes and children.

Reading, writing and validation all follow this table; none of them knows an element by name. An
element with a ``record`` becomes one; an element without (``<origin>``, ``<mass>``) puts its
attributes straight into the fields of the record it stands in.

Source: https://wiki.ros.org/urdf/XML (robot, link, joint, transmission), and the XSD of urdfdom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from linkwork.formats.urdf import records
from linkwork.formats.urdf.convert import JOINT_TYPES, VALUES, BadText, Kind, Values

__all__ = ["JOINT_TYPES", "ROBOT", "Attribute", "Child", "Element", "Kind", "Need"]

Need = Literal["error", "warning"]
"""The weight of a thing that is missing or doubled: an error, or a finding."""

_TEXTS = frozenset({Kind.NAME, Kind.LABEL, Kind.CONTENT})
_FILLERS: dict[Kind, Any] = {
    Kind.NAME: "",
    Kind.JOINT_TYPE: "fixed",
    Kind.NUMBER: 0.0,
    Kind.FACTOR: 1.0,
    Kind.POSITIVE: 1.0,
    Kind.SIZES: (1.0, 1.0, 1.0),
}


@dataclass(eq=False)
class Attribute:
    """One attribute: its name, the kind of its text, and the field of the record it fills."""

    name: str
    kind: Kind
    target: str = ""  # the attribute's own name where empty
    required: Need | None = None
    default: Any = None
    faulty: Need = "error"  # a text without a value; a finding leaves None, and keeps the text

    def __post_init__(self) -> None:
        self.target = self.target or self.name
        self.values: Values = VALUES[self.kind]
        self.quoted = self.kind in _TEXTS  # the text may have characters that XML escapes
        default = self.default
        self.default_text = None if default is None else self.values.write(default)
        # written although it is the default, since the standard asks for it
        self.always = self.required is not None and self.kind is not Kind.LABEL
        # its default needs no judging, and is never written
        self.is_plain = default is not None and self.required is None and not self.quoted

    @property
    def filler(self) -> Any:
        """The value in the place of one that is missing or wrong, so that checking can go on.

        Of an attribute that must be there it reaches nobody: an error is already noted.
        """
        return _FILLERS[self.kind] if self.required == "error" else self.default


@dataclass(eq=False)
class Child:
    """A place for elements inside another one; of several ``elements`` one may stand there.

    They are one of three: elements with records (``records``: from each to its element), an element
    that is no record (``inline``), one that holds a text (``text``).
    """

    elements: tuple[Element, ...]
    field: str = ""  # empty for an element without a record: its attributes know their fields
    repeated: bool = False
    required: Need | None = None
    doubled: Need = "warning"

    def __post_init__(self) -> None:
        first = self.elements[0]
        self.tags = tuple(element.tag for element in self.elements)
        self.records = {element.record: element for element in self.elements if element.record}
        self.text = first.text
        self.inline = None if self.records or self.text else first

    def items(self, record: Any) -> tuple[Any, ...]:
        """The records or texts that a record has in this place.

        Raises: BadText where there is something else.
        """
        value = getattr(record, self.field)
        if not self.repeated:
            return () if value is None else (value,)
        if isinstance(value, (tuple, list)):
            return tuple(value)
        raise BadText("type", f"field '{self.field}': a tuple, not {type(value).__name__}")

    def element_of(self, record: Any) -> Element:
        """The element that a record in this place becomes.

        Raises: BadText where no such record may stand.
        """
        element = self.records.get(type(record))
        if element is None:
            names = " or ".join(kind.__name__ for kind in self.records)
            raise BadText("type", f"field '{self.field}': {names}, not {type(record).__name__}")
        return element


@dataclass(eq=False)
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

    def __post_init__(self) -> None:
        targets = {attribute.target for attribute in self.attributes}
        self.known = frozenset(attribute.name for attribute in self.attributes)
        self.tags = tuple(tag for child in self.children for tag in child.tags)
        # fields that an attribute or an element may fill, with the tag of the element
        self.twice = {c.field: c.tags[0] for c in self.children if c.text and c.field in targets}
        # nothing but attributes that need not be written
        plain = [a.is_plain for a in self.attributes]
        self.is_plain = bool(plain) and all(plain) and not self.children and not self.twice
        # what `ExtraElement.within` may be in its record: its tag, and those of its parts
        self.inner: dict[str, Element] = {self.tag: self}
        for child in self.children:
            if not child.records:
                self.inner.update(child.elements[0].inner)

    def values(self, record: Any) -> list[tuple[Attribute, Any]]:
        """The attributes of the element, with the value that the record has for each.

        Raises: BadText for a packed matrix that is not 3x3 and symmetric.
        """
        if self.packed:
            matrix = getattr(record, self.packed)
            numbers = [None] * len(self.attributes) if matrix is None else _upper_triangle(matrix)
            return list(zip(self.attributes, numbers, strict=True))
        return [
            (attribute, getattr(record, attribute.target))
            for attribute in self.attributes
            if attribute.target not in self.twice or self.is_attribute(record, attribute.target)
        ]

    def has_values(self, record: Any) -> bool:
        """Whether an element that is no record may stand there: one of a matrix has it."""
        return not self.packed or getattr(record, self.packed) is not None

    def unread(self, record: Any, extra: records.ExtraAttribute) -> Attribute | None:
        """The attribute whose text a record keeps since it has no value."""
        for attribute in self.attributes:
            if attribute.name == extra.name and (self.packed or attribute.faulty == "warning"):
                value = getattr(record, self.packed or attribute.target)
                return attribute if value is None else None
        return None

    def is_attribute(self, record: Any, target: str) -> bool:
        """Whether a field that an element or an attribute may fill is written as an attribute.

        The element is the form of today; a file that had the attribute keeps it, and one that had
        both has the element among what is kept as text.
        """
        tag = self.twice.get(target)
        if tag is None or any(getattr(extra, "tag", "") == tag for extra in record.extra):
            return tag is not None
        return bool(record.layout) and tag not in record.layout


def _upper_triangle(matrix: Any) -> list[Any]:
    """The upper triangle of a symmetric matrix, row by row."""
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rows
    except (TypeError, ValueError):
        raise BadText("count", "a 3x3 matrix is needed") from None
    if [xy, xz, yz] != [yx, zx, zy]:
        raise BadText("symmetric", "the matrix is not symmetric", "write (m + m.T) / 2")
    return [xx, xy, xz, yy, yz, zz]


# ---- the table


def _number(name: str, kind: Kind = Kind.NUMBER, **options: Any) -> Attribute:
    return Attribute(name, kind, **options)


def _needed(name: str, kind: Kind, **options: Any) -> Attribute:
    return Attribute(name, kind, required="error", **options)


def _label(name: str, **options: Any) -> Attribute:
    return Attribute(name, Kind.LABEL, **options)


def _child(element: Element, field: str = "", **options: Any) -> Child:
    return Child((element,), field, **options)


def _several(element: Element, field: str) -> Child:
    return Child((element,), field, repeated=True)


def _inline(tag: str, *attributes: Attribute, **options: Any) -> Child:
    """An element whose attributes fill the record around it."""
    return Child((Element(tag, attributes=attributes),), **options)


_XYZ_RPY = (
    Attribute("xyz", Kind.LENGTHS, default=records.ZERO),
    Attribute("rpy", Kind.ANGLES, default=records.ZERO),
)
_INERTIA = Element(
    "inertia",
    attributes=tuple(
        _number(name, Kind.FACTOR, required="warning")
        for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    ),
    packed="inertia",
)
_INERTIAL = Element(
    "inertial",
    records.Inertial,
    children=(
        _inline("origin", *_XYZ_RPY),
        _inline("mass", _number("value", Kind.FACTOR, target="mass", required="warning")),
        _child(_INERTIA),
    ),
)

_ROUND = (_needed("radius", Kind.POSITIVE), _needed("length", Kind.POSITIVE))
_SHAPES = (
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
_GEOMETRY = Element("geometry", children=(Child(_SHAPES, "geometry", required="warning"),))

_MATERIAL = Element(
    "material",
    records.Material,
    (_label("name", default=""),),
    (
        _inline("color", Attribute("rgba", Kind.RGBA, required="warning", faulty="warning")),
        _inline("texture", _label("filename", target="texture", required="warning")),
    ),
)
_SHOWN = (
    _inline("origin", *_XYZ_RPY),
    _child(_GEOMETRY, required="warning"),
    _child(_MATERIAL, "material"),
)

LINK = Element(
    "link",
    records.Link,
    (_needed("name", Kind.NAME),),
    (
        _child(_INERTIAL, "inertial"),
        _several(Element("visual", records.Visual, (_label("name"),), _SHOWN), "visuals"),
        _several(Element("collision", records.Collision, (_label("name"),), _SHOWN), "collisions"),
    ),
)

_LIMIT = Element(
    "limit",
    records.Limit,
    (
        _number("lower"),
        _number("upper"),
        _number("effort", Kind.NOT_NEGATIVE, required="warning"),
        _number("velocity", Kind.NOT_NEGATIVE, required="warning"),
    ),
)
_DYNAMICS = Element(
    "dynamics",
    records.Dynamics,
    (
        _number("damping", Kind.NOT_NEGATIVE, default=0.0),
        _number("friction", Kind.NOT_NEGATIVE, default=0.0),
    ),
)
_MIMIC = Element(
    "mimic",
    records.Mimic,
    (
        _needed("joint", Kind.NAME),
        _number("multiplier", Kind.FACTOR, default=1.0),
        _number("offset", Kind.FACTOR, default=0.0),
    ),
)
_SAFETY = Element(
    "safety_controller",
    records.Safety,
    (
        _number("k_velocity", required="warning"),
        _number("k_position", default=0.0),
        _number("soft_lower_limit"),
        _number("soft_upper_limit"),
    ),
)
_CALIBRATION = Element(
    "calibration",
    records.Calibration,
    (_number("rising"), _number("falling"), _number("reference_position")),
)
_AXIS = Attribute("xyz", Kind.DIRECTION, target="axis", required="warning", default=(1.0, 0.0, 0.0))


def _end(tag: str) -> Child:
    """The link at one end of a joint."""
    link = _needed("link", Kind.NAME, target=tag)
    return _inline(tag, link, required="error", doubled="error")


JOINT = Element(
    "joint",
    records.Joint,
    (_needed("name", Kind.NAME), _needed("type", Kind.JOINT_TYPE)),
    (
        _inline("origin", *_XYZ_RPY, doubled="error"),
        _end("parent"),
        _end("child"),
        _inline("axis", _AXIS),
        _child(_LIMIT, "limit", doubled="error"),
        _child(_DYNAMICS, "dynamics"),
        _child(_MIMIC, "mimic", doubled="error"),
        _child(_SAFETY, "safety"),
        _child(_CALIBRATION, "calibration"),
    ),
)

_INTERFACE = _several(Element("hardwareInterface", text=True), "hardware_interfaces")
_REDUCTION = _child(Element("mechanicalReduction", text=True), "mechanical_reduction")
_NAMED = (_label("name", required="warning", default=""),)
_DRIVEN = Element("joint", records.TransmissionJoint, _NAMED, (_INTERFACE, _REDUCTION))
_ACTUATOR = Element("actuator", records.Actuator, _NAMED, (_REDUCTION, _INTERFACE))

_TRANSMISSION = Element(
    "transmission",
    records.Transmission,
    (*_NAMED, Attribute("type", Kind.CONTENT)),  # the form of ROS before 2011
    (
        _child(Element("type", text=True), "type"),
        _several(_DRIVEN, "joints"),
        _several(_ACTUATOR, "actuators"),
    ),
)

ROBOT = Element(
    "robot",
    records.Robot,
    (_needed("name", Kind.NAME), _label("version")),
    (
        _several(LINK, "links"),
        _several(JOINT, "joints"),
        _several(_TRANSMISSION, "transmissions"),
        _several(_MATERIAL, "materials"),
    ),
)
"""The root: everything else hangs below it."""

MISPLACED = frozenset({LINK.tag, JOINT.tag})
"""Elements that the tree is made of: to pass over one would change the robot, so it is refused."""


def elements(element: Element = ROBOT) -> Iterator[Element]:
    """The element and all that may stand in it, at each of their places."""
    yield element
    for child in element.children:
        for below in child.elements:
            yield from elements(below)


ELEMENTS: dict[type, Element] = {e.record: e for e in elements() if e.record is not None}
"""Record to its element."""

TAGS = frozenset(element.tag for element in elements())
"""Every element that URDF has."""


@cache
def record_fields(record: type) -> tuple[str, ...]:
    """The fields of a record that hold records."""

    def of(element: Element) -> Iterator[str]:
        for child in element.children:
            if child.records:
                yield child.field
            elif child.inline:
                yield from of(child.inline)

    return (*of(ELEMENTS[record]), "extra", "comments") if record in ELEMENTS else ()
