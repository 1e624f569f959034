"""A mechanism from the records of a URDF file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from linkwork.errors import InputError
from linkwork.formats.urdf.read import draft
from linkwork.formats.urdf.records import ZERO, Document, Inertial, Joint, Link
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, Stacks, assemble
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.numpy import PLAIN
from linkwork.spatial.rotations import from_rpy

_LINK, _JOINT = draft(LinkPart), draft(JointPart)  # written to four times as fast as frozen ones
_NO_INERTIA = (ZERO, ZERO, ZERO)
_MASSLESS = Inertial(ZERO, ZERO, 0.0, _NO_INERTIA)
_TYPES = {kind.label: kind for kind in JointType}


def from_urdf(document: Document, *, base: Literal["fixed", "floating"] = "fixed") -> Mechanism:
    """The mechanism that a URDF describes; its findings are kept and added to.

    A link without inertial has no mass; what an inertial does not say counts as unknown. A revolute
    or prismatic joint whose limits lack `lower` or `upper` is unlimited on that side. A continuous
    joint has no limits of its own. The rotation of an inertial's origin is always applied.
    Source: https://wiki.ros.org/urdf/XML/joint and .../link.

    Raises: as `assemble`; InputError for another base.
    """
    if base not in ("fixed", "floating"):
        raise InputError(f"the base is 'fixed' or 'floating', not {base!r}")
    parts, stacks = _described(document, base)
    return assemble(parts, stacks)


def parts_from_urdf(document: Document, *, base: Literal["fixed", "floating"] = "fixed") -> Parts:
    """The same as parts, still to be assembled."""
    return _described(document, base)[0]


def _described(document: Document, base: Literal["fixed", "floating"]) -> tuple[Parts, Stacks]:
    """The parts, and their arrays in one piece: read-only, since the parts share them."""
    robot, file = document.robot, document.robot.file or ""
    stacks = Stacks(*_joint_arrays(robot.joints), *_link_arrays(robot.links))
    for array in stacks:
        array.setflags(write=False)
    parts = Parts(
        name=robot.name,
        links=_links(robot.links, stacks, file),
        joints=_joints(robot.joints, stacks, file),
        base=base,
        findings=document.problems,
        unknown_inertials=_unknown_inertials(robot.links),
    )
    return parts, stacks


def _unknown_inertials(links: Sequence[Link]) -> tuple[tuple[str, str], ...]:
    """The links whose mass or inertia a description leaves open, and which of them."""
    return tuple(
        (link.name, what)
        for link in links
        if link.inertial is not None
        for what, value in (("mass", link.inertial.mass), ("inertia", link.inertial.inertia))
        if value is None
    )


def rotation_from_rpy(rpy: tuple[float, float, float]) -> Floats:
    """R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3): rotations about the fixed axes x, y, z in this order.

    Its bits are the same on every processor: they are part of what compiled code is kept under.
    """
    return np.array(_rotation(rpy))


def _rotation(rpy: tuple[float, float, float]) -> Any:
    """The same as rows."""
    return from_rpy(PLAIN, rpy) if any(rpy) else _UNTURNED


_UNTURNED = np.eye(3).tolist()


def _joint_arrays(joints: Sequence[Joint]) -> tuple[Floats, Floats, Floats]:
    """R (nj, 3, 3), p (nj, 3) and axis (nj, 3)."""
    return (
        np.array([_rotation(joint.rpy) for joint in joints], np.float64).reshape(-1, 3, 3),
        np.array([joint.xyz for joint in joints], np.float64).reshape(-1, 3),
        np.array([joint.axis for joint in joints], np.float64).reshape(-1, 3),
    )


def _link_arrays(links: Sequence[Link]) -> tuple[Floats, Floats, Floats]:
    """Mass (nl,), centre of mass (nl, 3) and inertia about it (nl, 3, 3)."""
    inertials = [link.inertial or _MASSLESS for link in links]
    inertia = np.array([i.inertia or _NO_INERTIA for i in inertials], np.float64).reshape(-1, 3, 3)
    for k, inertial in enumerate(inertials):
        if any(inertial.rpy):
            R = rotation_from_rpy(inertial.rpy)
            inertia[k] = R @ inertia[k] @ R.T
    return (
        np.array([i.mass or 0.0 for i in inertials], np.float64),
        np.array([i.xyz for i in inertials], np.float64).reshape(-1, 3),
        inertia,
    )


def _links(links: Sequence[Link], stacks: Stacks, file: str) -> list[LinkPart]:
    arrays = zip(links, stacks.mass.tolist(), stacks.com, stacks.I_com, strict=True)
    parts = [_LINK(link.name, *values, link.line, file) for link, *values in arrays]
    for part in parts:
        part.__class__ = LinkPart
    return parts


def _joints(joints: Sequence[Joint], stacks: Stacks, file: str) -> list[JointPart]:
    arrays = zip(joints, stacks.R, stacks.p, stacks.axis, strict=True)
    parts = [_joint(*given, file) for given in arrays]
    for part in parts:
        part.__class__ = JointPart
    return parts


def _joint(joint: Joint, R: Floats, p: Floats, axis: Floats, file: str) -> Any:
    limit, dynamics, mimic = joint.limit, joint.dynamics, joint.mimic
    kind = _TYPES[joint.type]
    lower = upper = velocity = effort = None
    if limit is not None:
        velocity, effort = limit.velocity, limit.effort
        if _is_bounded(kind):
            lower, upper = limit.lower, limit.upper
        elif kind is JointType.SPHERICAL and limit.upper and limit.upper > 0.0:
            upper = limit.upper  # how far it turns
    damping, friction = (dynamics.damping, dynamics.friction) if dynamics else (0.0, 0.0)
    return _JOINT(
        joint.name,
        kind,
        joint.parent,
        joint.child,
        R,
        p,
        axis,
        lower,
        upper,
        velocity,
        effort,
        damping,
        friction,
        0.0,  # URDF has no armature
        Mimic(mimic.joint, mimic.multiplier, mimic.offset) if mimic else None,
        joint.line,
        file,
    )


def _is_bounded(kind: JointType) -> bool:
    return kind is JointType.REVOLUTE or kind is JointType.PRISMATIC
