"""The tree of links and joints of a robot as edges, and as a picture in text."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linkwork.formats.urdf.read import Document
from linkwork.legible import legible, short
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.terminal_text import Text

if TYPE_CHECKING:
    from linkwork.robot import Robot


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint between two links; ``axis`` is in the joint's frame, as the description has it."""

    joint: str
    type: str
    parent: str
    child: str
    axis: tuple[float, float, float] | None = None
    lower: float | None = None
    upper: float | None = None
    follows: str | None = None
    locked: bool = False


DEEPEST_DRAWN = 60
"""Levels of a tree that are drawn one in another; what is deeper stands below, with its parent."""


def edges_of(robot: Robot) -> list[Edge]:
    """All joints: those of the description, or those left in a chain cut out of it."""
    joints = () if robot.document is None else robot.document.robot.joints
    described = {joint.child: joint.parent for joint in joints}
    hanging = {name: above for name, above in robot.parents.items() if above is not None}
    root = robot.mechanism.body_names[0]
    if robot.document is None or described != hanging or root in described:
        return _from_mechanism(robot.mechanism)
    return _from_description(robot.mechanism, robot.document)


def tree_text(robot: Robot) -> str:
    """The tree as `Robot.tree` gives it."""
    edges = edges_of(robot)
    floating = robot.mechanism.body_joint_types[0] is JointType.FLOATING
    lines = drawn(root_of(robot, edges), edges, floating=floating)
    return "\n".join(str(line).rstrip() for line in lines)


def root_of(robot: Robot, edges: list[Edge]) -> str:
    """The link that all others hang on."""
    children = {edge.child for edge in edges}
    roots = [edge.parent for edge in edges if edge.parent not in children]
    return roots[0] if roots else robot.mechanism.body_names[0]


def _from_description(m: Mechanism, document: Document) -> list[Edge]:
    types = zip(m.body_joint_names, m.body_joint_types, strict=True)
    moving = {name for name, kind in types if kind is not JointType.FIXED}
    without = {kind.label for kind in JointType if kind is JointType.FIXED or kind.has_quaternion}
    leaders, edges = leaders_of(m), list[Edge]()
    for joint in document.robot.joints:
        lower, upper = limits_of(m, joint.name)
        fixed = joint.type == JointType.FIXED.label
        axis = None if joint.type in without else joint.axis
        locked = not fixed and joint.name not in moving
        ends = (joint.name, joint.type, joint.parent, joint.child)
        edges.append(Edge(*ends, axis, lower, upper, leaders.get(joint.name), locked))
    return edges


def _from_mechanism(m: Mechanism) -> list[Edge]:
    leaders, edges = leaders_of(m), []
    for body in range(1, m.n_bodies):
        name = m.body_joint_names[body]
        lower, upper = limits_of(m, name)
        parent, child = m.body_names[int(m.parent[body])], m.body_names[body]
        ends = (name, m.body_joint_types[body].label, parent, child)
        edges.append(Edge(*ends, None, lower, upper, leaders.get(name)))
    for frame, body in enumerate(m.frame_body[: m.n_link_frames]):
        link, carrier = m.frame_names[frame], m.body_names[int(body)]
        if link != carrier:
            edges.append(Edge("", JointType.FIXED.label, carrier, link))
    return edges


def leaders_of(m: Mechanism, *, degrees: bool = False) -> dict[str, str]:
    """The position that each coupled joint follows: "2 * finger +0.1", in radians or degrees."""
    follows: dict[str, str] = {}
    for body in m.followers():
        multiplier, offset = float(m.multiplier[body]), float(m.offset[body])
        coordinate = int(m.coordinate[body])
        leader = m.joint_names[coordinate]
        if degrees:  # a position is so many of its unit
            own = math.degrees(1.0) if m.body_joint_types[body].turns else 1.0
            its = math.degrees(1.0) if m.joint_types[coordinate].turns else 1.0
            multiplier, offset = multiplier * own / its, offset * own
        factor = "" if multiplier == 1.0 else f"{short(multiplier)} * "
        shift = f" {offset:+.6g}" if offset else ""
        follows[m.body_joint_names[body]] = f"{factor}{leader}{shift}"
    return follows


def limits_of(m: Mechanism, joint: str) -> tuple[float | None, float | None]:
    """Both limits of a joint with one position or a limited angle, or two times None."""
    if joint not in m.joint_names:
        return None, None
    c = m.joint(joint)
    if np.isfinite(m.angle_limit[c]):
        return 0.0, float(m.angle_limit[c])
    if m.joint_types[c].n_q != 1:
        return None, None
    at = m.q_slice(c).start
    return float(m.lower[at]), float(m.upper[at])


def drawn(root: str, edges: list[Edge], *, floating: bool) -> list[Text]:
    """The lines of the tree, each link below the one that it hangs on. No recursion."""
    below: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        below[edge.parent].append(edge)
    top = _Branch(Text((legible(root), "bold"), (" (floats)" if floating else "", "dim")))
    waiting = [(root, top, 0)]
    while waiting:
        link, branch, depth = waiting.pop()
        for edge in below[link]:
            if depth < DEEPEST_DRAWN:
                inner = _Branch(_label(edge))
                branch.below.append(inner)
                waiting.append((edge.child, inner, depth + 1))
            else:  # further in, each line would be longer than the one before
                where = Text((f" on {legible(edge.parent)}", "dim"))
                branch.below.append(_Branch(_label(edge) + where))
                waiting.append((edge.child, branch, depth))
    return _lines_of(top)


@dataclass(frozen=True, slots=True)
class _Branch:
    label: Text
    below: list[_Branch] = field(default_factory=list["_Branch"])


def _lines_of(top: _Branch) -> list[Text]:
    """The lines of a tree, with the strokes that lead to each."""
    lines, waiting = [top.label], [(branch, "") for branch in reversed(top.below)]
    last = {id(branch) for branch in top.below[-1:]}
    while waiting:
        branch, strokes = waiting.pop()
        ends = id(branch) in last
        lines.append(Text(strokes + ("└── " if ends else "├── ")) + branch.label)
        last.update(id(inner) for inner in branch.below[-1:])
        inside = strokes + ("    " if ends else "│   ")
        waiting.extend((inner, inside) for inner in reversed(branch.below))
    return lines


def _label(edge: Edge) -> Text:
    joint = f"  {legible(edge.joint)}" if edge.joint else " "
    details = f" ({', '.join(_details(edge))})"
    return Text((legible(edge.child), "bold"), (joint, "cyan"), (details, "dim"))


def _details(edge: Edge) -> list[str]:
    details = [edge.type]
    if edge.axis is not None:
        details.append("axis " + " ".join(short(v) for v in edge.axis))
    if edge.locked:
        details.append("locked")
    elif edge.follows is not None:
        details.append(f"follows {legible(edge.follows)}")
    elif edge.lower is not None and edge.upper is not None and edge.type != "continuous":
        details.append(f"{_bound(edge.lower)} to {_bound(edge.upper)}")
    return details


def _bound(value: float) -> str:
    text = short(value)
    return "unlimited" if text == "-" else text
