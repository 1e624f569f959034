"""A mechanism from the records of a URDF file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from linkwork.errors import InputError
from linkwork.formats.urdf.records import ZERO, Document, Inertial, Joint, Link
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, Stacks, assemble
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.numpy import PLAIN
from linkwork.spatial.rotations import from_rpy

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
    robot, file = document.robot, document.robot.file or ""
    stacks = Stacks(*_joint_arrays(robot.joints), *_link_arrays(robot.links))
    for array in stacks:  # the parts share them
        array.setflags(write=False)
    links: Any = zip(robot.links, stacks.mass.tolist(), stacks.com, stacks.I_com, strict=True)
    joints = zip(robot.joints, stacks.R, stacks.p, stacks.axis, strict=True)
    parts = Parts(
        name=robot.name,
        links=[
            LinkPart(link.name, mass, c, about, link.line, file) for link, mass, c, about in links
        ],
        joints=[_joint_part(*given, file) for given in joints],
        base=base,
        findings=document.problems,
        unknown_inertials=tuple(
            (link.name, what)
            for link in robot.links
            if link.inertial is not None
            for what, value in (("mass", link.inertial.mass), ("inertia", link.inertial.inertia))
            if value is None
        ),
    )
    return assemble(parts, stacks)


def rotation_from_rpy(rpy: tuple[float, float, float]) -> Floats:
    """R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3): rotations about the fixed axes x, y, z in this order.

    Its bits are the same on every processor: they are part of what compiled code is kept under.
    """
    return np.array(_rotation(rpy))


def _rotation(rpy: tuple[float, float, float]) -> Any:
    """The rows of the rotation."""
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


def _joint_part(joint: Joint, R: Floats, p: Floats, axis: Floats, file: str) -> JointPart:
    limit, dynamics, mimic = joint.limit, joint.dynamics, joint.mimic
    kind = _TYPES[joint.type]
    lower = upper = None
    if limit is not None:
        if kind is JointType.REVOLUTE or kind is JointType.PRISMATIC:
            lower, upper = limit.lower, limit.upper
        elif kind is JointType.SPHERICAL and limit.upper and limit.upper > 0.0:
            upper = limit.upper  # how far it turns
    return JointPart(
        name=joint.name,
        type=kind,
        parent=joint.parent,
        child=joint.child,
        R=R,
        p=p,
        axis=axis,
        lower=lower,
        upper=upper,
        velocity=limit.velocity if limit else None,
        effort=limit.effort if limit else None,
        damping=dynamics.damping if dynamics else 0.0,
        friction=dynamics.friction if dynamics else 0.0,
        mimic=Mimic(mimic.joint, mimic.multiplier, mimic.offset) if mimic else None,
        line=joint.line,
        file=file,
    )
