"""Rows S2-185 and S2-203: robots made from robots, and members that come and go."""

from __future__ import annotations

import copy as copying
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.faces.urdfpy.joint import Joint
from linkwork.faces.urdfpy.link import Link
from linkwork.faces.urdfpy.materials import Material
from linkwork.faces.urdfpy.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.validation import members
from linkwork.faces.urdfpy.values import ForeignError, WrongTypeError, pose

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.urdf import URDF


def change(
    robot: URDF,
    *,
    links: list[Any] | None = None,
    joints: list[Any] | None = None,
    transmissions: list[Any] | None = None,
    materials: list[Any] | None = None,
) -> None:
    """Give a robot other members, if they form one; else nothing changes.

    Raises: WrongTypeError for what is no such member; DescriptionError.
    """
    robot.set_members(
        members("links", robot.links if links is None else links, Link),
        members("joints", robot.joints if joints is None else joints, Joint),
        members(
            "transmissions",
            robot.transmissions if transmissions is None else transmissions,
            Transmission,
        ),
        members("materials", robot.materials if materials is None else materials, Material),
    )


def member(owned: Sequence[Any], given: Any, kind: type, label: str) -> Any:
    """One of these, by itself or by its name.

    Raises: UnknownNameError; WrongTypeError for what is neither.
    """
    for one in owned:
        if one is given or (isinstance(given, str) and one.name == given):
            return one
    names = [one.name for one in owned]
    if isinstance(given, str):
        raise UnknownNameError(label, given, names)
    if isinstance(given, kind):
        raise ForeignError(label, getattr(given, "name", ""), names)
    raise WrongTypeError(f"a {label} or its name is needed, not {type(given).__name__}")


def remove(robot: URDF, link: Any) -> None:
    """Remove a link and all below it.

    Raises: InputError for the base; DescriptionError where a joint that stays follows one that
    goes.
    """
    first = member(robot.links, link, Link, "link")
    if first is robot.base_link:
        raise InputError(f"link '{first.name}' is the base: without it there is no robot")
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    gone, level = {first.name}, [first.name]
    while level:
        level = [child for name in level for child in children.get(name, ())]
        gone.update(level)
    joints = [joint for joint in robot.joints if joint.child not in gone]
    left = {joint.name for joint in joints}
    change(
        robot,
        links=[own for own in robot.links if own.name not in gone],
        joints=joints,
        transmissions=[
            t for t in robot.transmissions if not t.joints or any(j.name in left for j in t.joints)
        ],
    )


def copied(robot: URDF, *, name: str | None, prefix: str, scale: Any, collision_only: bool) -> URDF:
    """A copy of a robot; see `URDF.copy`."""
    factor = None if scale is None else _factor(scale)
    other = copying.deepcopy(robot)
    if name is not None:
        other.name = name
    if prefix:
        _prefix(other, prefix)
    if collision_only:
        for link in other.links:
            link.visuals = []
    if factor is not None:
        _scale(other, factor)
    materials = [] if collision_only else other.materials
    other.set_members(other.links, other.joints, other.transmissions, materials)
    return other


def _prefix(robot: URDF, prefix: str) -> None:
    """Put a text before all names of links, joints and transmissions."""
    for joint in robot.joints:
        joint.name = prefix + joint.name
        joint.parent, joint.child = prefix + joint.parent, prefix + joint.child
        if joint.mimic is not None:
            joint.mimic.joint = prefix + joint.mimic.joint
    for owned in (*robot.links, *robot.transmissions):
        owned.name = prefix + owned.name
    for transmission in robot.transmissions:
        for driven in (*transmission.joints, *transmission.actuators):
            driven.name = prefix + driven.name


def _scale(robot: URDF, factor: float) -> None:
    for link in robot.links:
        _scale_link(link, factor)
    for joint in robot.joints:
        joint.origin = _scaled_pose(joint.origin, factor)
        if joint.joint_type == "prismatic":
            _scale_limits(joint, factor)


def _factor(scale: Any) -> float:
    try:
        numbers = np.unique(np.asarray(scale, np.float64))
    except (TypeError, ValueError):
        raise InputError(f"URDF.copy: scale is a number above zero, not {scale!r}") from None
    if numbers.size != 1:
        text = "lengths that grow differently along x, y and z turn rotations into what none is"
        raise UnsupportedFeatureError(f"URDF.copy: scale is one number; {text}")
    factor = float(numbers[0])
    if not 0.0 < factor < np.inf:
        raise InputError(f"URDF.copy: scale is a number above zero, not {scale}")
    return factor


def _scaled_pose(T: Any, factor: float) -> Any:
    scaled = T.copy()
    scaled[:3, 3] *= factor
    return scaled


def _scale_limits(joint: Joint, factor: float) -> None:
    if joint.limit is not None:
        for side in ("lower", "upper", "velocity"):
            value = getattr(joint.limit, side)
            setattr(joint.limit, side, None if value is None else value * factor)


def _scale_link(link: Link, factor: float) -> None:
    """Lengths by the factor, masses by its third power, inertias by its fifth."""
    for shape in (*link.visuals, *link.collisions):
        shape.origin = _scaled_pose(shape.origin, factor)
        own = shape.geometry.geometry
        if isinstance(own, Box):
            own.size = own.size * factor
        elif isinstance(own, Mesh):
            own.scale = (np.ones(3) if own.scale is None else own.scale) * factor
        elif isinstance(own, Sphere):
            own.radius *= factor
        elif isinstance(own, (Cylinder, Capsule)):
            own.radius *= factor
            own.length *= factor
    inertial = link.weight()
    if inertial is not None:
        inertial.mass *= factor**3
        inertial.inertia = inertial.inertia * factor**5
        inertial.origin = _scaled_pose(inertial.origin, factor)


def joined(
    robot: URDF, other: Any, link: Any, *, origin: Any, name: str | None, prefix: str
) -> URDF:
    """Two robots, fixed to each other; see `URDF.join`."""
    at = member(robot.links, link, Link, "link").name
    if not hasattr(other, "base_link"):
        raise WrongTypeError(f"URDF.join takes a URDF, not {type(other).__name__}")
    made, second = (
        copying.deepcopy(robot),
        copied(other, name=None, prefix=prefix, scale=None, collision_only=False),
    )
    if name is not None:
        made.name = name
    mount = Joint(
        name=f"{robot.name}_join_{prefix}{other.name}_joint",
        joint_type="fixed",
        parent=at,
        child=second.base_link.name,
        origin=pose(None, "origin", origin),
    )
    named = {material.name for material in made.materials}
    made.set_members(
        made.links + second.links,
        [*made.joints, mount, *second.joints],
        made.transmissions + second.transmissions,
        made.materials + [own for own in second.materials if own.name not in named],
    )
    return made
