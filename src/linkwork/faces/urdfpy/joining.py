"""Rows S2-185 and S2-203: robots made from robots, and members that come and go."""

from __future__ import annotations

import copy as copying
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.urdfpy.joint import Joint
from linkwork.faces.urdfpy.link import Link
from linkwork.faces.urdfpy.materials import Material
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.validation import members
from linkwork.faces.urdfpy.values import ForeignError, WrongTypeError, pose

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.robot import URDF


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


def joined(
    robot: URDF, other: Any, link: Any, *, origin: Any, name: str | None, prefix: str
) -> URDF:
    """Two robots, fixed to each other; see `URDF.join`."""
    at = member(robot.links, link, Link, "link").name
    if not hasattr(other, "base_link"):
        raise WrongTypeError(f"URDF.join takes a URDF, not {type(other).__name__}")
    made, second = copying.deepcopy(robot), other.copy(prefix=prefix)
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
