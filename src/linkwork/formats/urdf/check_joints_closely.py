"""What looks like a slip in limits and couplings: degrees, empty ranges, soft limits, narrowing."""

from __future__ import annotations

from math import inf, log10
from typing import NamedTuple

from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Joint, Mimic, Robot

_LIMITED = frozenset({"revolute", "prismatic"})
_DRIVEN = _LIMITED | {"continuous"}
_WITH_AXIS = _DRIVEN | {"planar"}
_DEGREES = (30.0, 1080.0)  # whole numbers from here to there are degrees more often than radians
_LONGEST = 20.0  # metres that a slider may be long
_SHARE = 0.01  # of the leader's range: what a follower may cut off without a word


def check_joints_closely(robot: Robot, problems: Findings) -> None:
    """Limits in other units, of zero width, of zero effort; soft limits; followers' limits."""
    for joint in robot.joints:
        if joint.type in _WITH_AXIS and joint.layout and "axis" not in joint.layout:
            hint = "write it, even if x is meant"
            _note(problems, joint, "no-axis", "it has no <axis>: 1 0 0", joint.line, hint)
        if joint.limit is not None and joint.type in _DRIVEN:
            _check_bounds(joint, problems)
            _check_drive(joint, problems)
        if joint.safety is not None and joint.type in _LIMITED:
            _check_soft_limits(joint, problems)
        if joint.mimic is not None and joint.mimic.multiplier == 0 and joint.type != "fixed":
            message = "its multiplier is 0, so that it never moves"
            _warn(problems, joint, "mimic-zero", message, joint.mimic.line, "is it a fixed joint?")
    _check_followers(robot, problems)


def _warn(
    problems: Findings, joint: Joint, code: str, message: str, line: int, hint: str = ""
) -> None:
    problems.add("warning", code, message, line=line, element="joint", name=joint.name, hint=hint)


def _note(
    problems: Findings, joint: Joint, code: str, message: str, line: int, hint: str = ""
) -> None:
    problems.add("note", code, message, line=line, element="joint", name=joint.name, hint=hint)


def _bounds(joint: Joint) -> tuple[float, float]:
    """Where a joint may be; infinite where nothing is said."""
    limit = joint.limit
    if limit is None or joint.type not in _LIMITED:
        return -inf, inf
    return (
        -inf if limit.lower is None else limit.lower,
        inf if limit.upper is None else limit.upper,
    )


def _check_bounds(joint: Joint, problems: Findings) -> None:
    limit = joint.limit
    if limit is None or joint.type not in _LIMITED:
        return
    given = [bound for bound in (limit.lower, limit.upper) if bound is not None]
    most = max(map(abs, given), default=0.0)
    shown = f"[{', '.join(f'{bound:g}' for bound in given)}]"
    if joint.type == "revolute" and _looks_like_degrees(given):
        hint = "limits of a revolute joint are in radians"
        _warn(problems, joint, "degree-limits", f"the limits {shown}: degrees?", limit.line, hint)
    elif joint.type == "prismatic" and most > _LONGEST and not _is_placeholder(most):
        hint = "limits of a prismatic joint are in metres"
        message = f"the limits {shown}: millimetres?"
        _warn(problems, joint, "millimetre-limits", message, limit.line, hint)
    if len(given) == 2 and given[0] == given[1]:
        message = f"both limits are {given[0]:g}, so that it cannot move"
        _note(problems, joint, "zero-range", message, limit.line, "is it a fixed joint?")


def _looks_like_degrees(bounds: list[float]) -> bool:
    most = max(map(abs, bounds), default=0.0)
    whole = all(float(bound).is_integer() for bound in bounds)
    return whole and _DEGREES[0] <= most <= _DEGREES[1] and not _is_placeholder(most)


def _is_placeholder(value: float) -> bool:
    """Whether a number is 10, 100, 1000, ...: what is written for "any"."""
    return value >= 10 and log10(value) == round(log10(value))


def _check_drive(joint: Joint, problems: Findings) -> None:
    """Efforts and velocities of 0: exporters write them where they know nothing."""
    limit = joint.limit
    if limit is None or joint.mimic is not None:
        return
    for code, what, value in (
        ("zero-effort", "effort", limit.effort),
        ("zero-velocity", "velocity", limit.velocity),
    ):
        if value == 0:
            hint = f"write the true {what}; 0 lets no motor move the joint"
            _note(problems, joint, code, f"its largest {what} is 0", limit.line, hint)


def _check_soft_limits(joint: Joint, problems: Findings) -> None:
    """Soft limits lie within the hard ones, and in order.

    Source: https://wiki.ros.org/pr2_controller_manager/safety_limits
    """
    safety = joint.safety
    if safety is None:
        return
    lower, upper = _bounds(joint)
    low, high = safety.soft_lower_limit, safety.soft_upper_limit
    if low is not None and high is not None and low > high:
        message = f"soft_lower_limit {low:g} is above soft_upper_limit {high:g}"
        _warn(problems, joint, "soft-limits", message, safety.line)
        return
    outside = [
        f"{name} {value:g}"
        for name, value in (("soft_lower_limit", low), ("soft_upper_limit", high))
        if value is not None and lower <= upper and not lower <= value <= upper
    ]
    if outside:
        message = f"{' and '.join(outside)} outside the limits [{lower:g}, {upper:g}]"
        hint = "soft limits stop a joint before its limits do"
        _warn(problems, joint, "soft-limits", message, safety.line, hint)


class Coupling(NamedTuple):
    """position = multiplier * (position of ``leader``) + offset, over a whole chain."""

    leader: str
    multiplier: float
    offset: float


def final_couplings(robot: Robot) -> dict[str, Coupling]:
    """Each follower's coupling to the joint at the end of its chain; none for chains without end.

    A fixed joint follows nothing, whatever its <mimic> says. Every joint is passed once, however
    long the chains are.
    """
    joints: dict[str, Joint] = {}
    for joint in robot.joints:
        joints.setdefault(joint.name, joint)
    following = {
        name: joint.mimic
        for name, joint in joints.items()
        if joint.mimic is not None and joint.type != "fixed"
    }
    found: dict[str, Coupling | None] = {
        name: Coupling(name, 1.0, 0.0) for name in joints if name not in following
    }
    for start in following:
        chain: dict[str, Mimic] = {}
        at = start
        while at not in found and at not in chain:
            if at in following:
                chain[at] = following[at]
                at = following[at].joint
            else:
                found[at] = None  # there is no such joint
        end = found.get(at)
        for name, mimic in reversed(chain.items()):
            if end is not None:
                m = mimic.multiplier
                end = Coupling(end.leader, m * end.multiplier, m * end.offset + mimic.offset)
            found[name] = end
    couplings = ((name, found.get(name)) for name in following)
    return {name: coupling for name, coupling in couplings if coupling is not None}


def _check_followers(robot: Robot, problems: Findings) -> None:
    """What is left of a leader's range where its followers have limits of their own."""
    couplings = final_couplings(robot)
    if not couplings:
        return
    joints = {joint.name: joint for joint in reversed(robot.joints)}
    for name, coupling in couplings.items():
        if joints[name].limit is not None and coupling.multiplier != 0:
            _check_follower(joints[name], joints[coupling.leader], coupling, problems)


def _check_follower(joint: Joint, leader: Joint, coupling: Coupling, problems: Findings) -> None:
    _, multiplier, offset = coupling
    lower, upper = _bounds(joint)
    low, high = _bounds(leader)
    ends = sorted(((lower - offset) / multiplier, (upper - offset) / multiplier))
    if lower > upper or low > high:
        return  # reversed limits are reported already
    left, right = max(low, ends[0]), min(high, ends[1])
    name, line = show(leader.name), joint.limit.line if joint.limit else joint.line
    rule = f"{multiplier:g} * '{name}' + {offset:g}"
    whole, rest = high - low, right - left
    if rest <= FOLLOWER_TOLERANCE < whole or rest < -FOLLOWER_TOLERANCE:
        own = f"its limits [{lower:g}, {upper:g}]"
        message = f"{own} are never met: it is {rule}"
        if rest >= -FOLLOWER_TOLERANCE:
            message = f"{own} leave '{name}' nothing but {left + 0.0:g}: it is {rule}"
        hint = f"'{name}' has the limits [{low:g}, {high:g}], and keeps them"
        _warn(problems, joint, "follower-limits", message, line, hint)
        return
    if whole < inf and whole - rest > _SHARE * whole:
        message = f"its limits leave '{name}' only [{left + 0.0:g}, {right + 0.0:g}]"
        hint = f"'{name}' has the limits [{low:g}, {high:g}]; this joint is {rule}"
        tell = _note if rest > _SHARE * whole else _warn
        tell(problems, joint, "narrowed-leader", message, line, hint)
