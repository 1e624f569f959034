"""What is wrong with single joints: their axes, limits and couplings."""

from __future__ import annotations

from math import hypot

from linkwork.formats.urdf.convert import LARGEST, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Joint, Limit, Robot

_ALONG_AXIS = frozenset({"revolute", "continuous", "prismatic"})
_WITH_AXIS = _ALONG_AXIS | {"planar"}
_LIMITED = frozenset({"revolute", "prismatic"})
_UNIT = 1e-6  # how far from 1 the length of an axis may be
_SHORTEST = 1e-100  # axes shorter than this vanish when they are normalised


def check_joints(robot: Robot, joints: dict[str, int], problems: Findings) -> None:
    """Axes of moving joints, limits, and mimic references with their cycles."""
    followers: list[Joint] = []
    for joint in robot.joints:
        kind = joint.type
        if kind != "fixed":
            if kind in _WITH_AXIS:
                _check_axis(joint, problems)
            limit = joint.limit
            if kind in _LIMITED or limit is not None:
                _check_limit(joint, limit, problems)
        if joint.mimic is not None:
            followers.append(joint)
    if followers:
        _check_mimics(robot, followers, joints, problems)


def _check_axis(joint: Joint, problems: Findings) -> None:
    length = hypot(*joint.axis)
    if abs(length - 1.0) <= _UNIT:
        return
    line, name = joint.line, joint.name
    if length < _SHORTEST:
        x, y, z = joint.axis
        message = f"the axis ({x:g} {y:g} {z:g}) has no direction, but the joint moves"
        hint = "give <axis> a direction, for example 0 0 1"
        problems.add(
            "error", "zero-axis", message, line=line, element="joint", name=name, hint=hint
        )
    else:
        message = f"the axis has length {length:.9g}"
        hint = "only its direction counts"
        problems.add(
            "warning", "axis-length", message, line=line, element="joint", name=name, hint=hint
        )


def _check_limit(joint: Joint, limit: Limit | None, problems: Findings) -> None:
    line = limit.line if limit else joint.line

    def warn(code: str, message: str, hint: str = "") -> None:
        problems.add(
            "warning", code, message, line=line, element="joint", name=joint.name, hint=hint
        )

    if joint.type not in _LIMITED:
        unused = _unused(joint.type, limit) if limit else ""
        if unused:
            warn("unused-limits", unused)
        return
    missing = [n for n in ("lower", "upper") if limit is None or getattr(limit, n) is None]
    if missing:
        what = (
            "it has no <limit>" if limit is None else f"<limit> has no {' and no '.join(missing)}"
        )
        warn("missing-limits", f"{what}: unlimited", "the standard would take 0")
    if limit is None or (lower := limit.lower) is None or (upper := limit.upper) is None:
        return
    if lower > upper:
        warn("reversed-limits", f"lower {lower:g} is above upper {upper:g}")
    if max(-lower, upper) > LARGEST:
        warn("huge-limits", f"the limits go beyond {LARGEST:g}", "leave them out for no limit")


def _unused(kind: str, limit: Limit) -> str:
    """What of a limit does not count; "" where all does."""
    if kind != "spherical":
        given = limit.lower is not None or limit.upper is not None
        return f"a {kind} joint has no bounds; lower and upper are not used" if given else ""
    if limit.upper is not None and limit.upper <= 0.0:
        return f"upper {limit.upper:g} is no angle to turn by: it is not used"
    return (
        "a spherical joint has no lower bound; upper says how far it turns" if limit.lower else ""
    )


def _check_mimics(
    robot: Robot, followers: list[Joint], joints: dict[str, int], problems: Findings
) -> None:
    """Each leader exists and has one position; each follower has one as well; no cycles."""
    leader_of: dict[str, str] = {}
    for joint in followers:
        mimic = joint.mimic
        leader = mimic.joint if mimic else ""
        if not leader:
            continue
        code, message, hint = "", "", ""
        if joint.type == "fixed":  # whatever it says is without effect
            message = "a fixed joint cannot follow another one; its <mimic> is not used"
            problems.add(
                "warning",
                "fixed-follower",
                message,
                line=joint.line,
                element="joint",
                name=joint.name,
            )
            continue
        if joint.type not in _ALONG_AXIS:
            code, message = "mimic-type", f"a {joint.type} joint cannot follow another one"
            hint = "revolute, continuous and prismatic joints can"
        else:
            leader_of.setdefault(joint.name, leader)
        number = joints.get(leader)
        if leader == joint.name:
            code, message = "mimic-self", "the joint mimics itself"
        elif number is None:
            code, message = (
                "mimic-unknown",
                f"it mimics joint '{show(leader)}', which does not exist",
            )
            hint = problems.nearest(leader, joints)
        elif robot.joints[number].type not in _ALONG_AXIS:
            kind = robot.joints[number].type
            code = "mimic-leader"
            message = (
                f"it mimics joint '{show(leader)}', which is {kind} and has no single position"
            )
        if code:
            line = mimic.line if mimic else joint.line
            problems.add(
                "error", code, message, line=line, element="joint", name=joint.name, hint=hint
            )
    _check_mimic_cycles(leader_of, robot, joints, problems)


def _check_mimic_cycles(
    leader_of: dict[str, str], robot: Robot, joints: dict[str, int], problems: Findings
) -> None:
    walk_of: dict[str, int] = {}
    for number, start in enumerate(leader_of):
        if start in walk_of:
            continue
        name = start
        while name in leader_of and name not in walk_of:
            walk_of[name] = number
            name = leader_of[name]
        if walk_of.get(name) != number:
            continue
        cycle = [name]
        while leader_of[cycle[-1]] != name:
            cycle.append(leader_of[cycle[-1]])
        if len(cycle) == 1:
            continue  # it mimics itself, which is reported already
        shown = [show(n) for n in cycle[:8]] + (["..."] if len(cycle) > 8 else [])
        message = "joints mimic each other in a cycle: " + " -> ".join([*shown, shown[0]])
        first = min((robot.joints[joints[n]] for n in cycle), key=lambda joint: joint.line)
        problems.add(
            "error", "mimic-cycle", message, line=first.line, element="joint", name=first.name
        )
