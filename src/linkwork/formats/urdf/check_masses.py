"""What moves without any mass: where the equations of motion have no solution."""

from __future__ import annotations

from linkwork.formats.urdf.check_joints_closely import final_couplings
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Joint, Link, Robot


def check_masses(robot: Robot, problems: Findings) -> None:
    """Joints that move nothing with mass; one note where the whole robot has none.

    A joint's followers move with it, so theirs counts as its own. Descriptions that are no tree are
    passed over, as that is reported already.
    """
    mass = {link.name: _mass_of(link) for link in robot.links}
    moving = [joint for joint in robot.joints if joint.type != "fixed"]
    if not moving:
        return
    if not any(mass.values()):
        message = "no link has a mass, so that there is kinematics and no dynamics"
        problems.add(
            "note",
            "no-masses",
            message,
            line=robot.line,
            element="robot",
            name=robot.name,
            hint="give the links an <inertial>",
        )
        return
    order = _from_the_root(robot)
    if order is None:
        return
    carried = _carried(order, mass)
    extra = _by_followers(robot, carried)
    idle: set[str] = set()  # links that hang on a joint that was reported
    for joint in order:
        if joint.parent in idle:
            idle.add(joint.child)
        elif joint.type != "fixed" and joint.mimic is None:
            if carried[joint.child] + extra.get(joint.name, 0.0) == 0:
                idle.add(joint.child)
                message = f"nothing that it moves has a mass, from '{joint.child}' on"
                hint = "dynamics needs an <inertial> there"
                problems.add(
                    "warning",
                    "massless",
                    message,
                    line=joint.line,
                    element="joint",
                    name=joint.name,
                    hint=hint,
                )


def _mass_of(link: Link) -> float:
    """At least zero; one that is not said is not zero."""
    if link.inertial is None:
        return 0.0
    return 1.0 if link.inertial.mass is None else max(link.inertial.mass, 0.0)


def _from_the_root(robot: Robot) -> list[Joint] | None:
    """All joints, parents before children; None where they make no tree."""
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in robot.joints}
    names = {link.name for link in robot.links}
    roots = [link.name for link in robot.links if link.name not in children]
    one_tree = len(roots) == 1 and len(children) == len(robot.joints) == len(names) - 1
    if not one_tree or not children <= names or len(names) != len(robot.links):
        return None
    order: list[Joint] = []
    waiting = roots
    while waiting:
        hanging = below.get(waiting.pop(), [])
        order += hanging
        waiting += [joint.child for joint in hanging]
    return order if len(order) == len(robot.joints) else None


def _carried(order: list[Joint], mass: dict[str, float]) -> dict[str, float]:
    """For each link its mass and that of all below it."""
    total = dict(mass)
    for joint in reversed(order):
        total[joint.parent] += total[joint.child]
    return total


def _by_followers(robot: Robot, carried: dict[str, float]) -> dict[str, float]:
    """For each leader what its followers carry, those of followers included."""
    couplings = final_couplings(robot)
    total: dict[str, float] = {}
    for joint in robot.joints:
        if joint.name in couplings and joint.type != "fixed":
            leader = couplings[joint.name].leader
            total[leader] = total.get(leader, 0.0) + carried[joint.child]
    return total
