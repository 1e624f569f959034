"""Loops, couplings and actuated joints from the records of an MJCF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.errors import Finding
from linkwork.formats.mjcf.records import Anchor, Closure, Coupling, MjcfModel, Place, Terms
from linkwork.mechanism import rigid
from linkwork.mechanism.assemble import FramePart, JointPart, Parts
from linkwork.mechanism.loops import Closures, Loop, coupling
from linkwork.mechanism.model import Floats, JointType

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
no-equality | warning | A coupling or loop that is not read. | Its joints are free.
rigid-equality | note | It holds what cannot move. | Nothing to do.
mocap-equality | note | What holds a mocap body is not read. | Nothing to do.
no-actuator | note | An actuator that drives no single joint. | Say `actuate([...])`.
"""


_KINDS = {"weld": "pose", "connect": "position", "rod": "distance"}


def with_equalities(parts: Parts, model: MjcfModel, rotation: Any) -> Parts:
    """The parts with what closes and couples them; ``parts.frames`` are the sites in their order.

    ``rotation`` makes the matrix (3, 3) of a quaternion. A weld is the kind "pose", a connect
    "position", a tendon between two sites "distance". A joint that
    is held alone is a loop about or along its axis.
    """
    made = _Collector(parts, model, rotation)
    for closure in model.closures:
        made.close(closure)
    for each in model.couplings:
        made.couple(each)
    made.drive()
    closures = Closures(tuple(made.loops), tuple(made.couplings), tuple(made.actuated))
    frames, findings = [*parts.frames, *made.frames], (*parts.findings, *made.findings)
    return replace(parts, frames=frames, closures=closures, findings=findings)


class _Collector:
    """Collects loops, couplings, frames and findings."""

    def __init__(self, parts: Parts, model: MjcfModel, rotation: Any) -> None:
        self.parts, self.model, self.rotation = parts, model, rotation
        self.joints: Mapping[str, JointPart] = {joint.name: joint for joint in parts.joints}
        self.frames: list[FramePart] = []
        self.loops: list[Loop] = []
        self.couplings: list[Any] = []
        self.actuated: list[str] = []
        self.findings: list[Finding] = []
        self.taken = {link.name for link in parts.links} | {frame.name for frame in parts.frames}
        self.taken |= {n for j in parts.joints for n in (j.name, f"{j.name}/joint")}
        self.carriers = _carriers(model)

    def say(self, level: Any, code: str, text: str, place: Place, name: str) -> None:
        """Keep a finding."""
        problem = Finding(level, code, text, place.file, place.line, "equality", name)
        self.findings.append(problem)

    # loops

    def close(self, closure: Closure) -> None:
        """Add the loop of a connect, weld or rod."""
        bodies = [self.model.bodies[anchor.body] for anchor in (closure.a, closure.b)]
        name = closure.name or f"{bodies[0].name}-{bodies[1].name}"
        steered = [body.name for body in bodies if body.mocap]
        if steered:
            text = f"it holds the mocap body '{steered[0]}', which is for steering; it is not read"
            self.say("note", "mocap-equality", text, closure.place, closure.name)
            return
        if self.carriers[closure.a.body] == self.carriers[closure.b.body]:
            text = (
                f"nothing moves between '{bodies[0].name}' and '{bodies[1].name}'; it is not read"
            )
            self.say("note", "rigid-equality", text, closure.place, closure.name)
            return
        name = self._loop_name(name)
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
        return self._frame(name, body, self.rotation(anchor.quat), np.array(anchor.pos))

    def _frame(self, name: str, link: str, R: Floats, p: Floats) -> str:
        name = self._free(name)
        self.frames.append(FramePart(name, link, R, p))
        return name

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _loop_name(self, name: str) -> str:
        names, first, number = {loop.name for loop in self.loops}, name, 2
        while name in names:
            name, number = f"{first}_{number}", number + 1
        return name

    # couplings

    def couple(self, given: Coupling) -> None:
        """Add a coupling: sum of terms = polynomial of the sum of the others, all from ref."""
        terms, other, polynomial = _simplified(given)
        followed = next((j for j, _ in terms if j not in dict(other)), None)
        name = given.name
        if followed is None:
            text = "no joint stands in it on one side alone: these joints move freely"
            self.say("warning", "no-equality", text, given.place, name)
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
        axis = np.asarray(part.axis, float)
        straight = rigid.align_z((axis / np.linalg.norm(axis))[None])[0]
        turn, shift = np.eye(3), np.zeros(3)
        if hinge:
            c, s = np.cos(q), np.sin(q)
            turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        else:
            shift = part.R @ straight[:, 2] * q
        name = self._loop_name(name or f"{record.name} held")
        parent, child = part.parent or "", part.child or ""
        a = self._frame(f"{name}/a", parent, part.R @ straight @ turn, part.p + shift)
        b = self._frame(f"{name}/b", child, straight, np.zeros(3))
        self.loops.append(Loop(name, a, b, "/z" if hinge else "z"))

    # actuators

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


def _carriers(model: MjcfModel) -> list[int]:
    """For each body the one that it is rigidly on: itself where a joint moves it."""
    moved = {joint.body for joint in model.joints}
    found: list[int] = []
    for k, body in enumerate(model.bodies):
        found.append(k if k == 0 or k in moved else found[body.parent])
    return found


def _simplified(given: Coupling) -> tuple[Terms, Terms, Sequence[float]]:
    """The same with the joints of a linear polynomial on one side."""
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
