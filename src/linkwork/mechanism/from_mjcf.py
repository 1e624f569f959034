"""A mechanism from the records of an MJCF file.

MuJoCo's bodies become links of the same names, its world the root link. A body with several joints
moves them one after the other, so links without mass stand between. A joint may turn about a
point that is not the body's origin, and may count from a reference that is not zero.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from linkwork.errors import InputError
from linkwork.formats.mjcf.read import OpenMesh
from linkwork.formats.mjcf.records import Body, Joint, MjcfModel, Quaternion
from linkwork.geometry import guards
from linkwork.geometry.meshes import resolve
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.from_mjcf_loops import with_equalities
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.parts import FramePart, JointPart, LinkPart, Parts
from linkwork.ops.numpy import PLAIN
from linkwork.spatial.rotations import from_quaternion

MESH_SUFFIXES = frozenset((".stl", ".obj", ".msh"))
"""The mesh files that MuJoCo reads, by the end of their name in lower case."""


def from_mjcf(model: MjcfModel, *, base: Literal["fixed", "floating"] = "fixed") -> Mechanism:
    """The mechanism that an MJCF describes; its findings are kept.

    q agrees with MuJoCo's ``qpos`` joint by joint, by name; a free joint's numbers are the same,
    position then quaternion ``wxyz``, and so are a ball joint's. Hinges and slides without
    limits are free of them.
    Source: https://mujoco.readthedocs.io/en/stable/computation (kinematics).

    Raises: InputError for a floating base, which an MJCF
    has by its free joints; as `assemble`.
    """
    if base == "floating":
        raise InputError(
            "an MJCF says itself what moves freely: add <freejoint/> to its first body instead of "
            "base='floating'"
        )
    if base != "fixed":
        raise InputError(f"the base of an MJCF is 'fixed', not {base!r}")
    return assemble(parts_from_mjcf(model))


def parts_from_mjcf(model: MjcfModel) -> Parts:
    """The same as parts, still to be assembled.

    Between the joints of a body stand links named ``body/joint``; a body that no joint moves is
    fixed by ``body_fixed``; a site whose name a link or joint has becomes the frame ``site/site``.
    """
    taken = {body.name for body in model.bodies}
    joint_names = {joint.name for joint in model.joints}
    of_body: dict[int, list[Joint]] = {}
    for joint in model.joints:
        of_body.setdefault(joint.body, []).append(joint)
    links, joints = [LinkPart(model.bodies[0].name)], list[JointPart]()
    for number, body in enumerate(model.bodies[1:], 1):
        parent = model.bodies[body.parent].name
        chain = _Chain(body, parent, taken, joint_names)
        for joint in of_body.get(number, []):
            chain.add(joint)
        chain.close()
        links += [*chain.links, _link(body)]
        joints += chain.joints
    parts = Parts(
        name=model.name,
        links=links,
        joints=joints,
        frames=_frames(model, taken | joint_names),
        findings=model.problems,
        named=tuple((key.name, _by_joint(model, key.qpos)) for key in model.keyframes),
    )
    return with_equalities(parts, model, rotation_from_wxyz)


def _by_joint(model: MjcfModel, qpos: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """The positions of each joint in MuJoCo's configuration."""
    sizes = {"free": 7, "ball": 4}
    return {
        joint.name: tuple(qpos[joint.start : joint.start + sizes.get(joint.type, 1)])
        for joint in model.joints
    }


def mesh_opener(
    *,
    allow: Sequence[str | os.PathLike[str]] = (),
    ros_paths: Sequence[str | os.PathLike[str]] = (),
    home: str | os.PathLike[str] | None = None,
) -> OpenMesh:
    """What `formats.mjcf.read` opens meshes with: where meshes may lie, and nowhere else.

    Raises: InputError, when it is called, for a mesh that is not found, not allowed or too large.
    """

    def opened(name: str, file: str | None) -> bytes:
        path = resolve(name, file, allow, ros_paths=ros_paths, home=home, suffixes=MESH_SUFFIXES)
        if path.suffix.lower() == ".stl":
            guards.check(path)
        return guards.read(path)

    return opened


def rotation_from_wxyz(q: Quaternion) -> Floats:
    """The rotation (3, 3) of a quaternion of any length but zero."""
    return np.array(from_quaternion(PLAIN, q))


class _Chain:
    """The joints of one body, one after the other.

    MuJoCo moves the body's frame by each joint in turn: a hinge turns it about the axis through
    `pos`, both in the frame as the joints before have moved it. So the joint's frame stands at
    `pos`, and the link behind it carries the rest.
    """

    def __init__(self, body: Body, parent: str, taken: set[str], joint_names: set[str]) -> None:
        self.body, self.taken, self.joint_names = body, taken, joint_names
        self.at = parent  # the link that the next joint hangs on
        # the body's frame in that link
        self.placed = rotation_from_wxyz(body.quat), np.array(body.pos)
        self.links: list[LinkPart] = []
        self.joints: list[JointPart] = []
        self.waiting: JointPart | None = None

    def add(self, joint: Joint) -> None:
        """Append a joint; the link that it carries is settled by what comes after."""
        self._settle()
        if joint.type == "free":  # its position is that in the world
            self.placed = np.eye(3), np.zeros(3)
            self.waiting = _joint_part(joint, self.at, *self.placed)
            return
        anchor, axis = np.array(joint.pos), np.array(joint.axis)
        if joint.type == "slide":
            anchor = np.zeros(3)  # it slides the same way wherever it stands
        R_body, p_body = self.placed
        R_joint, p_joint = R_body, p_body + R_body @ anchor
        if joint.ref and joint.type == "hinge":
            R_joint = R_body @ _about(axis, -joint.ref)
        elif joint.ref:
            p_joint = p_joint - R_body @ axis * joint.ref
        self.waiting = _joint_part(joint, self.at, R_joint, p_joint)
        self.placed = np.eye(3), -anchor

    def close(self) -> None:
        """Hang the body itself behind its last joint."""
        R_body, p_body = self.placed
        if self.waiting is not None and not p_body.any():
            self.joints.append(replace(self.waiting, child=self.body.name))
            return
        self._settle()
        name = _free_name(f"{self.body.name}_fixed", self.joint_names)
        fixed = JointPart(
            name=name,
            type=JointType.FIXED,
            parent=self.at,
            child=self.body.name,
            R=R_body,
            p=p_body,
        )
        self.joints.append(fixed)

    def _settle(self) -> None:
        """Put a link without mass behind the joint that waits for one."""
        if self.waiting is None:
            return
        name = _free_name(f"{self.body.name}/{self.waiting.name}", self.taken)
        self.links.append(LinkPart(name))
        self.joints.append(replace(self.waiting, child=name))
        self.at, self.waiting = name, None


_TYPES = {
    "hinge": JointType.REVOLUTE,
    "slide": JointType.PRISMATIC,
    "free": JointType.FLOATING,
    "ball": JointType.SPHERICAL,
}


def _joint_part(joint: Joint, parent: str, R: Floats, p: Floats) -> JointPart:
    unlimited = joint.type == "hinge" and joint.lower is None and joint.upper is None
    return JointPart(
        name=joint.name,
        type=JointType.CONTINUOUS if unlimited else _TYPES[joint.type],
        parent=parent,
        child=None,
        R=R,
        p=p,
        axis=np.array(joint.axis),
        lower=joint.lower,
        upper=joint.upper,
        effort=joint.effort,
        damping=joint.damping,
        friction=joint.friction,
        armature=joint.armature,
        line=joint.place.line,
        file=joint.place.file,
    )


def _link(body: Body) -> LinkPart:
    R = rotation_from_wxyz(body.inertia_quat)
    inertia = R @ np.diag(body.inertia) @ R.T
    inertia, at = 0.5 * (inertia + inertia.T), body.place
    return LinkPart(body.name, body.mass, np.array(body.com), inertia, at.line, at.file)


def _about(axis: Floats, angle: float) -> Floats:
    """The rotation (3, 3) about a unit axis.

    Source: Rodrigues' formula R = 1 + sin a [n] + (1 - cos a) [n]².
    """
    x, y, z = axis
    N = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = np.sin(0.5 * angle)
    return np.eye(3) + np.sin(angle) * N + 2.0 * half * half * (N @ N)


def _frames(model: MjcfModel, taken: set[str]) -> list[FramePart]:
    """The sites as frames; what the frames of joints may be called is taken too."""
    taken = taken | {f"{joint.name}/joint" for joint in model.joints}
    frames: list[FramePart] = []
    for site in model.sites:
        name = site.name
        while name in taken:
            name += "/site"
        taken.add(name)
        R, p = rotation_from_wxyz(site.quat), np.array(site.pos)
        frames.append(FramePart(name, model.bodies[site.body].name, R, p))
    return frames


def _free_name(name: str, taken: set[str]) -> str:
    """This name, or one like it that is free; it is taken from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
