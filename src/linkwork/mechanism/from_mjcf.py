"""A mechanism from the records of an MJCF file.

MuJoCo's bodies become links of the same names, its world the root link. A body with several joints
moves them one after the other, so links without mass stand between. A joint may turn about a
point that is not the body's origin, and may count from a reference that is not zero. Equalities
become loops and couplings: a weld is the kind "pose", a connect "position", a tendon between two
sites "distance"; a joint that is held alone is a loop about or along its axis.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.errors import Finding, Level
from linkwork.formats.mjcf.read import OpenMesh
from linkwork.formats.mjcf.records import (
    Anchor,
    Body,
    Closure,
    Coupling,
    Joint,
    MjcfModel,
    Place,
    Quaternion,
    Terms,
)
from linkwork.formats.structure import untaken
from linkwork.geometry import guards
from linkwork.geometry.meshes import resolve
from linkwork.mechanism import rigid
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.loops import Closures, Loop, coupling, free_name
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.numpy import NUMPY, PLAIN
from linkwork.spatial.rotations import from_axis_angle, from_quaternion, rotation_z

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
no-equality | warning | A coupling or loop that is not read. | Its joints are free.
rigid-equality | note | It holds what cannot move. | Nothing to do.
mocap-equality | note | What holds a mocap body is not read. | Nothing to do.
no-actuator | note | An actuator that drives no single joint. | Say `with_actuated([...])`.
"""

MESH_SUFFIXES = frozenset((".stl", ".obj", ".msh"))
"""The mesh files that MuJoCo reads, by the end of their name in lower case."""


def from_mjcf(model: MjcfModel) -> Mechanism:
    """The mechanism that an MJCF describes; its findings are kept.

    q agrees with MuJoCo's ``qpos`` joint by joint, by name; a free joint's numbers are the same,
    position then quaternion ``wxyz``, and so are a ball joint's. Hinges and slides without
    limits are free of them.
    Source: https://mujoco.readthedocs.io/en/stable/computation (kinematics).

    Raises: as `assemble`.
    """
    return assemble(parts_from_mjcf(model))


def parts_from_mjcf(model: MjcfModel) -> Parts:
    """The parts of the mechanism, still to be assembled.

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
    spans = {j.name: slice(j.start, j.start + _TYPES[j.type].n_q) for j in model.joints}
    parts = Parts(
        name=model.name,
        links=links,
        joints=joints,
        frames=_frames(model, taken | joint_names),
        findings=model.problems,
        gravity=np.array(model.gravity),
        named=tuple(
            (key.name, {name: tuple(key.qpos[span]) for name, span in spans.items()})
            for key in model.keyframes
        ),
    )
    equalities = _Equalities(parts, model)
    for closure in model.closures:
        equalities.close(closure)
    for each in model.couplings:
        equalities.couple(each)
    equalities.drive()
    parts.closures = Closures(
        tuple(equalities.loops), tuple(equalities.couplings), tuple(equalities.actuated)
    )
    parts.frames = [*parts.frames, *equalities.frames]
    parts.findings = (*parts.findings, *equalities.findings)
    return parts


def mesh_opener(
    *,
    allow: Sequence[str | os.PathLike[str]] = (),
    ros_paths: Sequence[str | os.PathLike[str]] = (),
    home: str | os.PathLike[str] | None = None,
) -> OpenMesh:
    """The function that `formats.mjcf.read` opens meshes with: where they may lie, nowhere else.

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
            R_joint = R_body @ from_axis_angle(NUMPY, axis, -joint.ref)
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
        name = untaken(f"{self.body.name}_fixed", self.joint_names)
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
        name = untaken(f"{self.body.name}/{self.waiting.name}", self.taken)
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
        stiffness=joint.stiffness,
        spring_position=joint.spring_position,
        line=joint.place.line,
        file=joint.place.file,
    )


def _link(body: Body) -> LinkPart:
    R = rotation_from_wxyz(body.inertia_quat)
    inertia = R @ np.diag(body.inertia) @ R.T
    inertia, at = 0.5 * (inertia + inertia.T), body.place
    return LinkPart(body.name, body.mass, np.array(body.com), inertia, at.line, at.file)


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


# --- equalities and actuators ---------------------------------------------------------------------

_KINDS = {"weld": "pose", "connect": "position", "rod": "distance"}


class _Equalities:
    """The loops, couplings, frames and findings of a model's equalities, collected one by one.

    ``parts.frames`` are the sites in their order.
    """

    def __init__(self, parts: Parts, model: MjcfModel) -> None:
        self.parts, self.model = parts, model
        self.joints: Mapping[str, JointPart] = {joint.name: joint for joint in parts.joints}
        self.frames: list[FramePart] = []
        self.loops: list[Loop] = []
        self.couplings: list[Any] = []
        self.actuated: list[str] = []
        self.findings: list[Finding] = []
        self.taken = {link.name for link in parts.links} | {frame.name for frame in parts.frames}
        self.taken |= {n for j in parts.joints for n in (j.name, f"{j.name}/joint")}
        moved = {joint.body for joint in model.joints}
        self.carriers: list[int] = []  # for each body the one that it is rigidly on
        for k, body in enumerate(model.bodies):
            self.carriers.append(k if k == 0 or k in moved else self.carriers[body.parent])

    def _find(self, level: Level, code: str, text: str, place: Place, name: str) -> None:
        found = Finding(level, code, text, place.file, place.line, "equality", name)
        self.findings.append(found)

    def close(self, closure: Closure) -> None:
        """Add the loop of a connect, weld or rod."""
        bodies = [self.model.bodies[anchor.body] for anchor in (closure.a, closure.b)]
        name = closure.name or f"{bodies[0].name}-{bodies[1].name}"
        steered = [body.name for body in bodies if body.mocap]
        if steered:
            text = f"it holds the mocap body '{steered[0]}', which is for steering; it is not read"
            self._find("note", "mocap-equality", text, closure.place, closure.name)
            return
        if self.carriers[closure.a.body] == self.carriers[closure.b.body]:
            text = (
                f"nothing moves between '{bodies[0].name}' and '{bodies[1].name}'; it is not read"
            )
            self._find("note", "rigid-equality", text, closure.place, closure.name)
            return
        name = free_name(name, self.loops)
        a, b = (
            self._frame_of(anchor, f"{name}/{side}")
            for anchor, side in ((closure.a, "a"), (closure.b, "b"))
        )
        self.loops.append(Loop(name, a, b, _KINDS[closure.kind], closure.distance))

    def _frame_of(self, anchor: Anchor, name: str) -> str:
        """A frame that is there, or a new one."""
        if anchor.site is not None:
            return self.parts.frames[anchor.site].name
        body = self.model.bodies[anchor.body].name
        if not any(anchor.pos) and anchor.quat == (1.0, 0.0, 0.0, 0.0):
            return body
        return self._frame(name, body, rotation_from_wxyz(anchor.quat), np.array(anchor.pos))

    def _frame(self, name: str, link: str, R: Floats, p: Floats) -> str:
        name = untaken(name, self.taken)
        self.frames.append(FramePart(name, link, R, p))
        return name

    def couple(self, given: Coupling) -> None:
        """Add a coupling: sum of terms = polynomial of the sum of the others, all from ref."""
        terms, other, polynomial = _simplified(given)
        followed = next((j for j, _ in terms if j not in dict(other)), None)
        name = given.name
        if followed is None:
            text = "no joint stands in it on one side alone: these joints move freely"
            self._find("warning", "no-equality", text, given.place, name)
            return
        leaders = dict.fromkeys(j for j, _ in (*terms, *other) if j != followed)
        if not leaders:
            self._hold(followed, polynomial[0] / dict(terms)[followed], name)
            return
        numbers = list(leaders)
        joints = self.model.joints
        ref = [joint.ref for joint in joints]

        def function(*q: Any) -> Any:
            moved = {j: x - ref[j] if ref[j] else x for j, x in zip(numbers, q, strict=True)}
            value = _polynomial(polynomial, _sum(other, moved))
            rest = [pair for pair in terms if pair[0] != followed]
            if rest:
                value = value - _sum(rest, moved)
            factor = dict(terms)[followed]
            value = value if factor == 1.0 else value * (1.0 / factor)
            return value + ref[followed] if ref[followed] else value

        names = [joints[j].name for j in numbers]
        self.couplings.append(coupling(joints[followed].name, names, function))

    def _hold(self, joint: int, at: float, name: str) -> None:
        """A loop that holds one joint ``at`` from its ref."""
        record = self.model.joints[joint]
        part, q = self.joints[record.name], record.ref + at
        hinge = part.type is not JointType.PRISMATIC
        straight = rigid.align_z(np.asarray(part.axis, float)[None])[0]
        turn, shift = np.eye(3), np.zeros(3)
        if hinge:
            turn = rotation_z(NUMPY, q)
        else:
            shift = part.R @ straight[:, 2] * q
        name = free_name(name or f"{record.name} held", self.loops)
        parent, child = part.parent or "", part.child or ""
        a = self._frame(f"{name}/a", parent, part.R @ straight @ turn, part.p + shift)
        b = self._frame(f"{name}/b", child, straight, np.zeros(3))
        self.loops.append(Loop(name, a, b, "/z" if hinge else "z"))

    def drive(self) -> None:
        """Mark the joints that actuators drive one by one."""
        following = {each.joint for each in self.couplings}
        joints = self.model.joints
        for drive in self.model.drives:
            named = [joints[j].name for j in drive.joints if joints[j].type in ("hinge", "slide")]
            named = [name for name in named if name not in following] or named[:1]
            if len(named) == 1 and named[0] not in self.actuated:
                self.actuated.append(named[0])
            elif len(named) != 1:
                what = f"{len(named)} joints together" if named else "a free joint"
                text = f"it drives {what}: none of them is marked as actuated"
                place = drive.place
                self.findings.append(
                    Finding("note", "no-actuator", text, place.file, place.line, "actuator")
                )


def _simplified(given: Coupling) -> tuple[Terms, Terms, Sequence[float]]:
    """A coupling whose linear polynomial's joints are all on one side."""
    terms, other, polynomial = given.terms, given.other, given.polynomial
    if not any(polynomial[1:]) or not other:
        return terms, (), (polynomial[0], 0.0, 0.0, 0.0, 0.0)
    shared = {j for j, _ in terms} & {j for j, _ in other}
    if not shared or any(polynomial[2:]):
        return terms, other, polynomial
    factors = dict(terms)
    for j, factor in other:
        factors[j] = factors.get(j, 0.0) - polynomial[1] * factor
    left = tuple((j, factor) for j, factor in factors.items() if factor)
    return left, (), (polynomial[0], 0.0, 0.0, 0.0, 0.0)


def _sum(terms: Sequence[tuple[int, float]], moved: Mapping[int, Any]) -> Any:
    value: Any = None
    for joint, factor in terms:
        term = moved[joint] if factor == 1.0 else moved[joint] * factor
        value = term if value is None else value + term
    return value


def _polynomial(numbers: Sequence[float], x: Any) -> Any:
    """Horner's scheme, without the zeros at either end."""
    if x is None:
        return numbers[0]
    last = max(k for k, number in enumerate(numbers) if number)
    value: Any = numbers[last]
    for number in reversed(numbers[:last]):
        value = x if value is numbers[last] and value == 1.0 else x * value
        value = value + number if number else value
    return value
