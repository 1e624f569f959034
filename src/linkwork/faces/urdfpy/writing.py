"""From the objects of this face to records of `linkwork.formats.urdf`.

An object that was read keeps its record: unknown elements, comments and order stay there, and so do
the numbers as they were written (roll-pitch-yaw, an axis that is not a unit vector), as long as the
object's value is still the one that was made of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.urdfpy.base import unparsed
from linkwork.faces.urdfpy.joint import Joint, lacks_limit
from linkwork.faces.urdfpy.link import Inertial, Link, Visual
from linkwork.faces.urdfpy.materials import Material
from linkwork.faces.urdfpy.reading import added, added_tags, pose_of
from linkwork.faces.urdfpy.rotations import matrix_to_rpy, nearest_rotation
from linkwork.faces.urdfpy.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.values import direction, outside
from linkwork.formats.urdf import records

Floats = NDArray[np.float64]


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
