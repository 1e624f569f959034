"""Whether one finite tree follows from a description, and what is odd about it otherwise.

Everything here is linear in the size of the file and free of recursion.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.formats.urdf.check_contents import (
    check_inertias,
    check_materials,
    check_transmissions,
)
from linkwork.formats.urdf.check_joints import check_joints
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Joint, Link, Robot

_VERSIONS = (None, "1", "1.0", "1.1", "1.2")


def check(robot: Robot, problems: Findings) -> None:
    """Add to ``problems`` all that is wrong with the robot as a whole."""
    if not robot.links:
        hint = "a robot has at least one <link>"
        problems.add(
            "error", "no-link", "there is no link", line=robot.line, element="robot", hint=hint
        )
    if robot.version not in _VERSIONS:
        message = f"version '{show(robot.version or '')}' is not known; read as 1.0"
        problems.add("warning", "version", message, line=robot.line, element="robot")
    links = _by_name("link", robot.links, problems)
    joints = _by_name("joint", robot.joints, problems)
    _check_tree(robot, links, problems)
    check_joints(robot, joints, problems)
    check_inertias(robot, problems)
    check_materials(robot, problems)
    check_transmissions(robot, joints, problems)


def _by_name(
    element: str, records: Sequence[Link] | Sequence[Joint], problems: Findings
) -> dict[str, int]:
    """Name to number in the file, of the first one; the others are errors."""
    index: dict[str, int] = {}
    for k, record in enumerate(records):
        first = index.setdefault(record.name, k)
        if first != k and record.name:
            line = records[first].line
            where = f"a {element} of line {line}" if line else f"another {element}"
            message = f"the name is taken: {where} has it"
            problems.add(
                "error",
                f"duplicate-{element}",
                message,
                line=record.line,
                element=element,
                name=record.name,
            )
    return index


def _check_tree(robot: Robot, links: dict[str, int], problems: Findings) -> None:
    """Every joint between two links that exist, every link but one with one parent, no cycle."""
    holder: dict[str, Joint] = {}  # the joint that a link hangs on
    for joint in robot.joints:
        parent, child = joint.parent, joint.child
        for end, link in (("parent", parent), ("child", child)):
            if link not in links and link:
                message = f"the {end} link '{show(link)}' does not exist"
                _joint_error(
                    problems, joint, "unknown-link", message, problems.nearest(link, links)
                )
        if parent == child:
            if parent:
                message = f"parent and child are the same link '{show(parent)}'"
                _joint_error(problems, joint, "same-link", message)
            continue
        first = holder.setdefault(child, joint)
        if first is not joint and child:
            message = (
                f"link '{show(child)}' has a parent already: it hangs on joint "
                f"'{show(first.name)}' (line {first.line})"
            )
            hint = "a loop cannot be written in URDF; close it by a constraint instead"
            _joint_error(problems, joint, "two-parents", message, hint)
    roots = [robot.links[k] for name, k in links.items() if name not in holder and name]
    if len(roots) > 1:
        message = f"{len(roots)} links have no parent, so they are unconnected: {_listed(roots)}"
        hint = "one link is the root; join the others to it"
        problems.add(
            "error",
            "several-roots",
            message,
            line=roots[1].line,
            element="link",
            name=roots[1].name,
            hint=hint,
        )
    _check_cycles(holder, problems)


def _check_cycles(holder: dict[str, Joint], problems: Findings) -> None:
    """Walk up from each link until one that was met before; met on the same walk: a cycle."""
    walk_of: dict[str, int] = {}
    for number, start in enumerate(holder):
        if start in walk_of:
            continue
        link = start
        while link in holder and link not in walk_of:
            walk_of[link] = number
            link = holder[link].parent
        if walk_of.get(link) != number:
            continue
        cycle = [holder[link]]
        while cycle[-1].parent != link:
            cycle.append(holder[cycle[-1].parent])
        names = [show(joint.child) for joint in reversed(cycle)]
        message = f"{len(cycle)} links form a cycle: {_chain(names)}"
        _joint_error(problems, min(cycle, key=lambda joint: joint.line), "cycle", message)


def _chain(names: list[str]) -> str:
    shown = names if len(names) <= 8 else [*names[:6], "...", names[-1]]
    return " -> ".join([*shown, names[0]])


def _listed(records: Sequence[Link]) -> str:
    names = [f"'{show(record.name)}' (line {record.line})" for record in records[:8]]
    return ", ".join(names) + (f" and {len(records) - 8} more" if len(records) > 8 else "")


def _joint_error(problems: Findings, joint: Joint, code: str, message: str, hint: str = "") -> None:
    problems.add(
        "error", code, message, line=joint.line, element="joint", name=joint.name, hint=hint
    )
