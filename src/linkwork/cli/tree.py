"""How links hang on joints: from the description, or from the mechanism for a chain cut out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rich.text import Text
from rich.tree import Tree

import linkwork as lw
from linkwork.cli import output
from linkwork.mechanism.model import JointType, Mechanism


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


def edges_of(robot: lw.Robot, *, chain: bool) -> list[Edge]:
    """All joints: those of the description, or those left in a chain cut out of it."""
    if chain or robot.document is None:
        return _from_mechanism(robot.mechanism)
    return _from_description(robot)


def root_of(robot: lw.Robot, edges: list[Edge]) -> str:
    """The link that all others hang on."""
    children = {edge.child for edge in edges}
    roots = [edge.parent for edge in edges if edge.parent not in children]
    return roots[0] if roots else robot.mechanism.body_names[0]


def _from_description(robot: lw.Robot) -> list[Edge]:
    m = robot.mechanism
    moving, leaders = set(robot.full_joint_names), leaders_of(m)
    edges: list[Edge] = []
    for joint in robot.document.robot.joints if robot.document else ():
        lower, upper = limits_of(m, joint.name)
        fixed = joint.type == JointType.FIXED.label
        axis = None if fixed or joint.type == JointType.FLOATING.label else joint.axis
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


def leaders_of(m: Mechanism) -> dict[str, str]:
    """For each coupled joint, what its position follows: "2 * finger + 0.1"."""
    follows: dict[str, str] = {}
    for body in m.followers():
        multiplier, offset = float(m.multiplier[body]), float(m.offset[body])
        leader = m.joint_names[int(m.coordinate[body])]
        factor = "" if multiplier == 1.0 else f"{output.short(multiplier)} * "
        shift = f" {offset:+.6g}" if offset else ""
        follows[m.body_joint_names[body]] = f"{factor}{leader}{shift}"
    return follows


def limits_of(m: Mechanism, joint: str) -> tuple[float | None, float | None]:
    """Both limits of a joint with one position, or two times None."""
    if joint not in m.joint_names:
        return None, None
    c = m.joint(joint)
    at = int(m.q_start[c])
    if m.joint_types[c].n_q != 1:
        return None, None
    return float(m.lower[at]), float(m.upper[at])


def drawn(root: str, edges: list[Edge], *, floating: bool) -> tuple[Tree, int]:
    """The tree to print, and the columns that its deepest line begins at. No recursion."""
    below: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        below[edge.parent].append(edge)
    top = Tree(Text(root, "bold").append(" (floats)" if floating else "", "dim"))
    deepest, waiting = 0, [(root, top, 0)]
    while waiting:
        link, branch, depth = waiting.pop()
        deepest = max(deepest, depth)
        for edge in below[link]:
            waiting.append((edge.child, branch.add(_label(edge)), depth + 1))
    return top, 4 * deepest


def _label(edge: Edge) -> Text:
    joint = f"  {edge.joint}" if edge.joint else " "
    text = Text(edge.child, "bold").append(joint, "not bold cyan")
    return text.append(f" ({', '.join(_details(edge))})", "not bold dim")


def _details(edge: Edge) -> list[str]:
    details = [edge.type]
    if edge.axis is not None:
        details.append("axis " + " ".join(output.short(v) for v in edge.axis))
    if edge.locked:
        details.append("locked")
    elif edge.follows is not None:
        details.append(f"follows {edge.follows}")
    elif edge.lower is not None and edge.upper is not None and edge.type != "continuous":
        details.append(f"{_bound(edge.lower)} to {_bound(edge.upper)}")
    return details


def _bound(value: float) -> str:
    text = output.short(value)
    return "unlimited" if text == "-" else text
