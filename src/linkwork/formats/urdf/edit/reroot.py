"""Another link as the root: the joints between the old root and the new one are reversed.

A joint takes its child's coordinates to its parent's by O M(q): its origin O, then its motion M.
Reversed it has to be O' M'(q) = M(q)⁻¹ O⁻¹, and q must mean what it meant, so that limits,
couplings, gains and commands stay true. M(q)⁻¹ is the motion along the axis -a. With a the axis
in the child, and R the rotation of O, M(q)⁻¹ O⁻¹ = O⁻¹ M'(q) for M' along -R a, if the joint is
fixed, or prismatic, or turns about a line through the parent's origin. Otherwise the frame that
hangs on the reversed joint has to stand on its axis, at O: either a link without content does, to
which the old parent is fixed, or the frame of the old parent moves there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.edit.names import Mentions
from linkwork.formats.urdf.edit.records import (
    free,
    joint_names,
    known,
    link_names,
    outcome,
    path_to,
    robot_of,
)
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import ZERO, Document, ExtraElement, Joint, Link, Robot, Vector3
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations
from linkwork.spatial.inertias import Floats

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Edits
frame-moved | warning | An edit moved a link's frame, and poses in kept XML are still those of the
    old one. | Change them, or reroot with `frames="keep"`.
"""


# ---- origins


class Origin(NamedTuple):
    """A pose: where a frame is in another one, and how it is turned."""

    xyz: Vector3 = ZERO
    rpy: Vector3 = ZERO


HERE = Origin()
"""The origin that changes nothing."""


@lru_cache(maxsize=4096)
def rotation(rpy: Vector3) -> Floats:
    """The rotation (3, 3) of roll, pitch, yaw; not to be written to."""
    R = rotations.from_rpy(NUMPY, NUMPY.const(rpy))
    R.setflags(write=False)
    return R


def inverse(origin: Origin) -> Origin:
    """The pose of the outer frame in the inner one."""
    return relative(origin, HERE)


def relative(frame: Origin, other: Origin) -> Origin:
    """The pose of ``other`` in ``frame``, both given in the same third frame."""
    xyz = _vector(np.subtract(other.xyz, frame.xyz))
    if not any(frame.rpy):
        return Origin(xyz, other.rpy)
    turn = rotation(frame.rpy)
    if any(xyz):
        xyz = _vector(turn.T @ xyz)
    if frame.rpy == other.rpy:
        return Origin(xyz)
    if not any(other.rpy) and sum(map(bool, frame.rpy)) == 1:
        return Origin(xyz, _vector(np.negative(frame.rpy)))
    return Origin(xyz, _vector(rotations.to_rpy(NUMPY, turn.T @ rotation(other.rpy))))


def turned(axis: Vector3, rpy: Vector3) -> Vector3:
    """A direction (3,) of the inner frame in the outer one."""
    return _vector(rotation(rpy) @ axis) if any(rpy) else axis


def negated(axis: Vector3) -> Vector3:
    """The opposite direction (3,), without negative zeros."""
    return _vector(np.negative(axis))


def _vector(v: Floats) -> Vector3:
    x, y, z = (v + 0.0).tolist()  # -0.0 becomes 0.0
    return (x, y, z)


_REVERSIBLE = ("fixed", "revolute", "continuous", "prismatic")
_TURNING = ("revolute", "continuous")
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


def reroot(document: Document, link: str, frames: Literal["keep", "move"] = "keep") -> Document:
    """The same mechanism with another link as its root; positions of joints mean what they did.

    Every joint from the old root to ``link`` is reversed: it keeps its name, limits, dynamics and
    couplings, and its axis changes sign. A link whose joint turned about a line that misses the
    link's own frame cannot hang on that joint in URDF as it is. With ``frames="keep"`` it hangs on
    a link without content, named ``<joint>_frame``, that is added on the axis: every frame of a
    link stays where it was in the others, for all positions. With ``frames="move"`` no link is
    added, and the link's frame moves onto the axis: its inertial, shapes and joints are expressed
    in the moved frame, where they are the same bodies; unknown elements that belong to it are left
    as they are, with a finding of code ``frame-moved``.

    Raises: UnknownNameError; InputError for a planar, floating or spherical joint on the way, whose
    reverse would need other coordinates.
    """
    robot = robot_of(document)
    known("link", link, link_names(robot))
    if frames not in ("keep", "move"):
        raise InputError(f"frames is 'keep' or 'move', not {frames!r}")
    path = path_to(robot, link)
    for joint in path:
        if joint.type not in _REVERSIBLE:
            raise InputError(
                f"joint '{show(joint.name)}' is {joint.type} and lies between the root and "
                f"'{show(link)}': reversed, its coordinates would be others; "
                f"fixed, revolute, continuous and prismatic joints can be reversed"
            )
    if not path:
        return outcome(robot)
    return outcome(_kept(robot, path)) if frames == "keep" else _moved(robot, path)


def _misses(joint: Joint) -> bool:
    """Whether the axis of a joint that turns passes by its parent's origin."""
    if joint.type not in _TURNING or not any(joint.xyz):
        return False
    scale = max(map(abs, joint.axis))  # an axis may have any length
    x, y, z = joint.axis
    axis = turned((x / scale, y / scale, z / scale), joint.rpy)
    span = np.divide(joint.xyz, max(map(abs, joint.xyz)))
    return bool(np.abs(np.cross(span, axis)).max() > _ROUNDING)


def _reversed(joint: Joint, origin: Origin, axis: Any) -> Joint:
    """The joint from its child to its parent; one without an axis keeps what is written."""
    axis = joint.axis if joint.type == "fixed" else negated(axis)
    ends = {"parent": joint.child, "child": joint.parent}
    return replace(joint, xyz=origin.xyz, rpy=origin.rpy, axis=axis, **ends)


def _kept(robot: Robot, path: list[Joint]) -> Robot:
    """Reversed with links without content where frames have to stay."""
    links, joints = set(link_names(robot)), set(joint_names(robot))
    new_links: dict[str, Link] = {}  # by the link that hangs on it
    new_joints: dict[str, tuple[Joint, ...]] = {}
    for joint in path:
        own = Origin(joint.xyz, joint.rpy)
        if not _misses(joint):
            axis = turned(joint.axis, joint.rpy)
            new_joints[joint.name] = (_reversed(joint, inverse(own), axis),)
            continue
        name = free(f"{joint.name}_frame", links)
        fixed = free(f"{joint.name}_frame_fixed", joints)
        links.add(name)
        joints.add(fixed)
        new_links[joint.parent] = Link(name)
        turning = replace(_reversed(joint, HERE, joint.axis), child=name)
        back = inverse(own)
        holding = Joint(fixed, "fixed", name, joint.parent, back.xyz, back.rpy)
        new_joints[joint.name] = (turning, holding)
    return replace(
        robot,
        links=tuple(
            one
            for link in robot.links
            for one in ((link, new_links[link.name]) if link.name in new_links else (link,))
        ),
        joints=tuple(one for joint in robot.joints for one in new_joints.get(joint.name, (joint,))),
    )


def _moved(robot: Robot, path: list[Joint]) -> Document:
    """Reversed with the frames of links moved where they have to be."""
    frames = {j.parent: Origin(j.xyz, j.rpy) for j in path if _misses(j)}  # in what they were

    def seen(link: str, record: Any) -> Any:
        """A record of the link, or a joint on it, with its origin in the frame as it is now."""
        if record is None or link not in frames:
            return record
        own = Origin(record.xyz, record.rpy)
        now = relative(frames[link], own)
        return record if now == own else replace(record, xyz=now.xyz, rpy=now.rpy)

    new_joints: dict[str, Joint] = {}
    for joint in path:
        if joint.parent in frames:
            turning = _reversed(joint, HERE, joint.axis)
        else:
            axis = turned(joint.axis, joint.rpy)
            turning = _reversed(joint, inverse(Origin(joint.xyz, joint.rpy)), axis)
        new_joints[joint.name] = turning
    joints = (new_joints.get(joint.name, joint) for joint in robot.joints)
    robot = replace(
        robot,
        links=tuple(
            link
            if link.name not in frames
            else replace(
                link,
                inertial=seen(link.name, link.inertial),
                visuals=tuple(seen(link.name, visual) for visual in link.visuals),
                collisions=tuple(seen(link.name, collision) for collision in link.collisions),
            )
            for link in robot.links
        ),
        joints=tuple(seen(joint.parent, joint) for joint in joints),
    )
    findings = Findings(robot.file)
    # unknown elements may hold poses in a frame that has moved, which nobody but they know
    holding = [(e, link.name) for link in robot.links if link.name in frames for e in link.extra]
    for extra in robot.extra if frames else ():
        if isinstance(extra, ExtraElement):
            found = Mentions(extra).found
            holding += [(extra, m.name) for m in found if "link" in m.kinds and m.name in frames]
    for extra, link in holding:
        if isinstance(extra, ExtraElement):
            message = f"the frame of link '{show(link)}' has moved, and poses in this text have not"
            hint, line = "change them by hand, or reroot with frames='keep'", extra.line
            findings.add("warning", "frame-moved", message, line=line, element=extra.tag, hint=hint)
    return outcome(robot, findings)
