"""A mechanism from the records of a URDF file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from linkwork.errors import InputError, Problem
from linkwork.formats.urdf.records import Document, Joint, Link
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.parts import JointPart, LinkPart, Mimic, Parts

_TYPES = {kind.label: kind for kind in JointType}


def from_urdf(document: Document, *, base: Literal["fixed", "floating"] = "fixed") -> Mechanism:
    """The mechanism that a URDF describes; its findings are kept and added to.

    A link without inertial has no mass. A revolute or prismatic joint whose limits lack `lower` or
    `upper` is unlimited on that side, which is a finding. A continuous joint has no limits of its
    own. The rotation of an inertial's origin is always applied.
    Source: https://wiki.ros.org/urdf/XML/joint and .../link.

    Raises: as `assemble`; InputError for another base.
    """
    if base not in ("fixed", "floating"):
        raise InputError(f"the base is 'fixed' or 'floating', not {base!r}")
    return assemble(parts_from_urdf(document, base=base))


def parts_from_urdf(document: Document, *, base: Literal["fixed", "floating"] = "fixed") -> Parts:
    """The same as parts, still to be assembled."""
    robot, file = document.robot, document.robot.file or ""
    reported = {(problem.code, problem.name) for problem in document.problems}
    findings = [
        finding
        for joint in robot.joints
        for finding in _missing_limits(joint, file)
        if (finding.code, finding.name) not in reported
    ]
    return Parts(
        name=robot.name,
        links=_links(robot.links),
        joints=_joints(robot.joints),
        base=base,
        findings=(*document.problems, *findings),
    )


def rotation_from_rpy(rpy: tuple[float, float, float]) -> Floats:
    """R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3): rotations about the fixed axes x, y, z in this order.

    The sines and cosines are those of the given numbers in float64. The C library's are the same
    whatever else is computed, which NumPy's vectorised ones need not be.
    """
    return np.array(_rotation(rpy))


def _rotation(rpy: tuple[float, float, float]) -> list[list[float]]:
    """The same as rows."""
    roll, pitch, yaw = rpy
    if not (roll or pitch or yaw):
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]


def _links(links: Sequence[Link]) -> list[LinkPart]:
    inertials = [link.inertial for link in links if link.inertial is not None]
    coms = iter(np.array([i.xyz for i in inertials], np.float64))
    inertias = iter(np.array([i.inertia for i in inertials], np.float64))
    return [
        LinkPart(link.name, inertial.mass, next(coms), _turned(next(inertias), inertial.rpy))
        if (inertial := link.inertial)
        else LinkPart(link.name)
        for link in links
    ]


def _turned(inertia: Floats, rpy: tuple[float, float, float]) -> Floats:
    if not any(rpy):
        return inertia
    R = rotation_from_rpy(rpy)
    return R @ inertia @ R.T


def _joints(joints: Sequence[Joint]) -> list[JointPart]:
    R = np.array([_rotation(joint.rpy) for joint in joints], np.float64)
    p = np.array([joint.xyz for joint in joints], np.float64)
    axes = np.array([joint.axis for joint in joints], np.float64)
    return [_joint(*given) for given in zip(joints, R, p, axes, strict=True)]


def _joint(joint: Joint, R: Floats, p: Floats, axis: Floats) -> JointPart:
    limit, dynamics, mimic = joint.limit, joint.dynamics, joint.mimic
    kind = _TYPES[joint.type]
    bounded = limit is not None and _is_bounded(kind)
    return JointPart(
        name=joint.name,
        type=kind,
        parent=joint.parent,
        child=joint.child,
        R=R,
        p=p,
        axis=axis,
        lower=limit.lower if limit and bounded else None,
        upper=limit.upper if limit and bounded else None,
        velocity=limit.velocity if limit else None,
        effort=limit.effort if limit else None,
        damping=dynamics.damping if dynamics else 0.0,
        friction=dynamics.friction if dynamics else 0.0,
        mimic=Mimic(mimic.joint, mimic.multiplier, mimic.offset) if mimic else None,
    )


def _is_bounded(kind: JointType) -> bool:
    return kind in (JointType.REVOLUTE, JointType.PRISMATIC)


def _missing_limits(joint: Joint, file: str) -> list[Problem]:
    limit = joint.limit
    if limit is not None and limit.lower is not None and limit.upper is not None:
        return []
    if not _is_bounded(_TYPES[joint.type]):
        return []
    lower, upper = (joint.limit.lower, joint.limit.upper) if joint.limit else (None, None)
    missing = [side for side, value in (("lower", lower), ("upper", upper)) if value is None]
    if not missing:
        return []
    text = f"no {' and no '.join(missing)} limit: taken as unlimited"
    line = joint.limit.line if joint.limit else joint.line
    return [Problem("warning", "missing-limits", text, file, line, "joint", joint.name)]
