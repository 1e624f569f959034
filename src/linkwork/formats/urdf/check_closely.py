"""What looks like a slip although it is allowed: for ``linkwork check``, not for every load.

Nothing here is certain, so nothing here is an error. The checks of `check` say what a description
*is*; these say what it probably was not meant to be: units, ranges, masses, names, leftovers.
Everything is linear in the size of the description and free of recursion.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, log10, pi, tau
from typing import Any, NamedTuple

from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.errors import DescriptionError, Finding
from linkwork.formats.structure import Mimic, final_leaders, root_first
from linkwork.formats.urdf.check import ALONG_AXIS, LIMITED, WITH_AXIS, check
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.materials import definitions
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.records import ExtraElement, Joint, Limit, Link, Robot, Vector3
from linkwork.formats.urdf.source import gather

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Names and elements
reserved-name | note | White space, `/`, `::` or `__...__`, which ROS and Gazebo read in their own
    way. | Use letters, digits and single underscores.
gazebo-reference | warning | `<gazebo reference>` names what is no link or joint. | Mind the
    spelling; unexpanded templates show up here.
# Numbers
degree-angles | warning | rpy beyond a whole turn: degrees? | Radians; 90 degrees are
    1.5707963267948966.
rounded-angles | note | Right angles written as 1.57 or 3.14; said once for a file. 3.14 bends by
    1.6 mm a metre. | Write all digits.
far-origin | warning | An origin more than 20 m away: millimetres? | Metres.
# Joints
no-axis | note | No `<axis>` where one counts: 1 0 0 is taken. | Write it.
zero-range | note | Both bounds are the same. | Make it fixed.
degree-limits | warning | Revolute, and bounds are whole numbers from 30 on, other than 100, 1000:
    degrees? | Radians.
millimetre-limits | warning | A slider longer than 20 m: millimetres? | Metres.
zero-effort | note | The largest effort is 0. | Write the true one.
zero-velocity | note | The largest velocity is 0. | Write the true one.
soft-limits | warning | Soft limits reversed or outside the limits. | Move inside.
# Couplings
mimic-zero | warning | The multiplier is 0: it never moves. | Make it fixed.
follower-limits | warning | The follower's limits leave its leader nothing, or one position; they
    are not counted. | Mend them.
narrowed-leader | warning, note | The follower's limits cut off some of the leader's range; a
    warning where nearly all. | Make both agree.
# Masses
massless | warning | A joint moves nothing that has a mass: dynamics has no solution. | Give an
    `<inertial>`, or make it fixed.
no-masses | note | No link has a mass: kinematics only. | Give `<inertial>`s.
# Looks
invisible | note | A visual whose material is transparent. | Alpha is 1 for opaque.
# Transmissions
transmission-fixed | warning | Its joint is fixed. | Remove it, or free the joint.
transmission-reduction | warning | Not a number other than 0. | Write the ratio.
"""


FARTHEST = 20.0
"""Metres; an origin farther away than this is taken for one in millimetres."""

_TURN = tau + 1e-3  # an angle beyond a turn says nothing more than one within it
_CLOSE = 5e-5  # radians; half a millimetre at ten metres, so 1.5708 and 3.1416 are fine
_REFERENCE = re.compile(r"^<gazebo\b[^>]*?\breference\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_RESERVED = re.compile(r"\s|/|::|^__.*__$")
_DEGREES = (30.0, 1080.0)  # whole numbers from here to there are degrees more often than radians
_LONGEST = 20.0  # metres that a slider may be long
_SHARE = 0.01  # of the leader's range: what a follower may cut off without a word


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found, by line, and the robot as far as it could be read.

    ``robot`` is None where reading stopped before its end. Where ``whole`` is False some values
    could not be read and have fillers in their place, so nothing should be concluded from them.
    """

    robot: Robot | None
    problems: tuple[Finding, ...]
    whole: bool

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(problem.level == "error" for problem in self.problems)


def examine(source: str | os.PathLike[str] | bytes, *, file: str | None = None) -> Examined:
    """All problems of a description: those that `read` finds, and those of `check_closely`.

    `read` raises what makes a description unusable; here nothing is raised, so that one run shows
    all there is to mend. The arguments are those of `read`. What only looks odd is looked for where
    every value could be read: a value that has none would give rise to suspicions of its own.
    """
    try:
        data, name = gather(source, file)
    except DescriptionError as error:
        return Examined(None, error.problems, False)
    findings = Findings(name)
    robot = Reader(data, findings).read()
    if robot is None:
        return Examined(None, findings.sorted(), False)
    whole = not findings.failed
    check(robot, findings)
    if whole:
        check_closely(robot, findings)
    return Examined(replace(robot, file=name), findings.sorted(), whole)


def check_closely(robot: Robot, findings: Findings) -> None:
    """Add what looks like a slip."""
    _check_origins(robot, findings)
    _check_joints(robot, findings)
    _check_masses(robot, findings)
    _check_names(robot, findings)
    _check_visibility(robot, findings)
    _check_gazebo(robot, findings)
    _check_transmissions(robot, findings)


# ---- origins


class _Origin(NamedTuple):
    """A pose that a file gives, and the element that it belongs to."""

    element: str
    name: str
    line: int
    xyz: Vector3
    rpy: Vector3


def _origins(robot: Robot) -> Iterator[_Origin]:
    for joint in robot.joints:
        yield _Origin("joint", joint.name, joint.line, joint.xyz, joint.rpy)
    for link in robot.links:
        if link.inertial is not None:
            part = link.inertial
            yield _Origin("inertial", link.name, part.line, part.xyz, part.rpy)
        for visual in link.visuals:
            yield _Origin("visual", link.name, visual.line, visual.xyz, visual.rpy)
        for collision in link.collisions:
            yield _Origin("collision", link.name, collision.line, collision.xyz, collision.rpy)


def _check_origins(robot: Robot, findings: Findings) -> None:
    """Angles in degrees, positions in millimetres, and right angles with few digits."""
    rounded: list[tuple[_Origin, float]] = []
    for origin in _origins(robot):
        if max(map(abs, origin.rpy)) > _TURN:
            x, y, z = origin.rpy
            message = f"rpy='{x:g} {y:g} {z:g}' turns by more than a whole turn: degrees?"
            hint = "angles are in radians; pi is 3.141592653589793"
            findings.about("warning", origin.element, origin, "degree-angles", message, hint)
        elif max(map(abs, origin.xyz)) > FARTHEST:
            x, y, z = origin.xyz
            message = f"xyz='{x:g} {y:g} {z:g}' is far away: millimetres?"
            hint = "positions are in metres"
            findings.about("warning", origin.element, origin, "far-origin", message, hint)
        else:
            rounded += [(origin, angle) for angle in origin.rpy if _is_rounded(angle)]
    if rounded:
        first, angle = min(rounded, key=lambda found: found[0].line)
        count = "one angle is" if len(rounded) == 1 else f"{len(rounded)} angles are"
        message = f"{count} a right angle with few digits, here {angle:g}"
        hint = f"write {_exact(angle)!r}; the error is {abs(angle - _exact(angle)):.1g} rad"
        findings.about("note", first.element, first, "rounded-angles", message, hint)


def _exact(angle: float) -> float:
    """The multiple of pi / 2 that is nearest to an angle."""
    return round(angle / (pi / 2)) * (pi / 2)


def _is_rounded(angle: float) -> bool:
    """Whether a right angle was cut or rounded to at most four digits: 1.57, 3.141, 1.5707."""
    away = abs(angle - _exact(angle))
    if abs(angle) < 1 or not _CLOSE < away < 0.01:
        return False
    return any(away < 10.0**-n and abs(angle - round(angle, n)) < 1e-9 for n in (2, 3, 4))


# ---- limits and couplings


class _JointFindings:
    """Findings of one joint."""

    def __init__(self, joint: Joint, findings: Findings) -> None:
        self.joint, self.findings = joint, findings

    def warn(self, code: str, message: str, line: int, hint: str = "") -> None:
        """Keep a warning."""
        self.findings.about("warning", "joint", self.joint, code, message, hint, line=line)

    def note(self, code: str, message: str, line: int, hint: str = "") -> None:
        """Keep a note."""
        self.findings.about("note", "joint", self.joint, code, message, hint, line=line)


def _check_joints(robot: Robot, findings: Findings) -> None:
    """Limits in other units, of zero width, of zero effort; soft limits; followers' limits."""
    for joint in robot.joints:
        found, limit = _JointFindings(joint, findings), joint.limit
        if joint.type in WITH_AXIS and joint.layout and "axis" not in joint.layout:
            hint = "write it, even if x is meant"
            found.note("no-axis", "it has no <axis>: 1 0 0", joint.line, hint)
        if limit is not None and joint.type in LIMITED:
            _check_bounds(joint.type, limit, found)
        if limit is not None and joint.type in ALONG_AXIS and joint.mimic is None:
            _check_drive(limit, found)
        if joint.safety is not None and joint.type in LIMITED:
            _check_soft_limits(joint, found)
        if joint.mimic is not None and joint.mimic.multiplier == 0 and joint.type != "fixed":
            message = "its multiplier is 0, so that it never moves"
            found.warn("mimic-zero", message, joint.mimic.line, "is it a fixed joint?")
    _check_followers(robot, findings)


def _bounds(joint: Joint) -> tuple[float, float]:
    """Where a joint may be; infinite where nothing is said."""
    limit = joint.limit
    if limit is None or joint.type not in LIMITED:
        return -inf, inf
    return (
        -inf if limit.lower is None else limit.lower,
        inf if limit.upper is None else limit.upper,
    )


def _check_bounds(kind: str, limit: Limit, found: _JointFindings) -> None:
    given = [bound for bound in (limit.lower, limit.upper) if bound is not None]
    most = max(map(abs, given), default=0.0)
    shown = f"[{', '.join(f'{bound:g}' for bound in given)}]"
    if kind == "revolute" and _looks_like_degrees(given):
        hint = "limits of a revolute joint are in radians"
        found.warn("degree-limits", f"the limits {shown}: degrees?", limit.line, hint)
    elif kind == "prismatic" and most > _LONGEST and not _is_placeholder(most):
        hint = "limits of a prismatic joint are in metres"
        found.warn("millimetre-limits", f"the limits {shown}: millimetres?", limit.line, hint)
    if len(given) == 2 and given[0] == given[1]:
        message = f"both limits are {given[0]:g}, so that it cannot move"
        found.note("zero-range", message, limit.line, "is it a fixed joint?")


def _looks_like_degrees(bounds: list[float]) -> bool:
    most = max(map(abs, bounds), default=0.0)
    whole = all(float(bound).is_integer() for bound in bounds)
    return whole and _DEGREES[0] <= most <= _DEGREES[1] and not _is_placeholder(most)


def _is_placeholder(value: float) -> bool:
    """Whether a number is 10, 100, 1000, ...: what is written for "any"."""
    return value >= 10 and log10(value) == round(log10(value))


def _check_drive(limit: Limit, found: _JointFindings) -> None:
    """Efforts and velocities of 0: exporters write them where they know nothing."""
    for code, what, value in (
        ("zero-effort", "effort", limit.effort),
        ("zero-velocity", "velocity", limit.velocity),
    ):
        if value == 0:
            hint = f"write the true {what}; 0 lets no motor move the joint"
            found.note(code, f"its largest {what} is 0", limit.line, hint)


def _check_soft_limits(joint: Joint, found: _JointFindings) -> None:
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
        found.warn("soft-limits", message, safety.line)
        return
    outside = [
        f"{name} {value:g}"
        for name, value in (("soft_lower_limit", low), ("soft_upper_limit", high))
        if value is not None and lower <= upper and not lower <= value <= upper
    ]
    if outside:
        message = f"{' and '.join(outside)} outside the limits [{lower:g}, {upper:g}]"
        hint = "soft limits stop a joint before its limits do"
        found.warn("soft-limits", message, safety.line, hint)


def final_couplings(robot: Robot) -> dict[str, Mimic]:
    """Each follower's coupling to the joint at the end of its chain; none for chains without end.

    A fixed joint follows nothing, whatever its <mimic> says.
    """
    joints = {joint.name: joint for joint in reversed(robot.joints)}
    mimics = {
        joint.name: Mimic(mimic.joint, mimic.multiplier, mimic.offset)
        for joint in robot.joints
        if joints[joint.name] is joint and (mimic := joint.mimic) and joint.type != "fixed"
    }
    return final_leaders(mimics, joints)


def _check_followers(robot: Robot, findings: Findings) -> None:
    """What is left of a leader's range where its followers have limits of their own."""
    couplings = final_couplings(robot)
    if not couplings:
        return
    joints = {joint.name: joint for joint in reversed(robot.joints)}
    for name, coupling in couplings.items():
        joint = joints[name]
        if joint.limit is not None and coupling.multiplier != 0:
            found = _JointFindings(joint, findings)
            _check_follower(joint, joints[coupling.leader], coupling, joint.limit.line, found)


def _check_follower(
    joint: Joint, leader: Joint, coupling: Mimic, line: int, found: _JointFindings
) -> None:
    _, multiplier, offset = coupling
    lower, upper = _bounds(joint)
    low, high = _bounds(leader)
    ends = sorted(((lower - offset) / multiplier, (upper - offset) / multiplier))
    if lower > upper or low > high:
        return  # reversed limits are reported already
    left, right = max(low, ends[0]), min(high, ends[1])
    name = show(leader.name)
    rule = f"{multiplier:g} * '{name}' + {offset:g}"
    whole, rest = high - low, right - left
    if rest <= FOLLOWER_TOLERANCE < whole or rest < -FOLLOWER_TOLERANCE:
        own = f"its limits [{lower:g}, {upper:g}]"
        message = f"{own} are never met: it is {rule}"
        if rest >= -FOLLOWER_TOLERANCE:
            message = f"{own} leave '{name}' nothing but {left + 0.0:g}: it is {rule}"
        hint = f"'{name}' has the limits [{low:g}, {high:g}], and keeps them"
        found.warn("follower-limits", message, line, hint)
        return
    if whole < inf and whole - rest > _SHARE * whole:
        message = f"its limits leave '{name}' only [{left + 0.0:g}, {right + 0.0:g}]"
        hint = f"'{name}' has the limits [{low:g}, {high:g}]; this joint is {rule}"
        tell = found.note if rest > _SHARE * whole else found.warn
        tell("narrowed-leader", message, line, hint)


# ---- masses


def _check_masses(robot: Robot, findings: Findings) -> None:
    """Joints that move nothing with mass; one note where the whole robot has none.

    A joint's followers move with it, so theirs counts as its own. Descriptions that are no tree are
    passed over, as that is reported already.
    """
    mass = {link.name: _mass_of(link) for link in robot.links}
    if all(joint.type == "fixed" for joint in robot.joints):
        return
    if not any(mass.values()):
        message = "no link has a mass, so that there is kinematics and no dynamics"
        hint = "give the links an <inertial>"
        findings.about("note", "robot", robot, "no-masses", message, hint)
        return
    ends = [(joint.parent, joint.child) for joint in robot.joints]
    tree = root_first([link.name for link in robot.links], ends)
    if tree is None:
        return
    order = [robot.joints[k] for k in tree[1]]
    carried = dict(mass)  # by each link, with all that hangs on it
    for joint in reversed(order):
        carried[joint.parent] += carried[joint.child]
    followers = _carried_by_followers(robot, carried)
    idle: set[str] = set()  # links that hang on a joint that was reported
    for joint in order:
        if joint.parent in idle:
            idle.add(joint.child)
        elif joint.type != "fixed" and joint.mimic is None:
            if carried[joint.child] + followers.get(joint.name, 0.0) == 0:
                idle.add(joint.child)
                message = f"nothing that it moves has a mass, from '{joint.child}' on"
                hint = "dynamics needs an <inertial> there"
                findings.about("warning", "joint", joint, "massless", message, hint)


def _carried_by_followers(robot: Robot, carried: dict[str, float]) -> dict[str, float]:
    """For each leader what its followers carry, those of followers included."""
    couplings, total = final_couplings(robot), dict[str, float]()
    for joint in robot.joints:
        if joint.name in couplings and joint.type != "fixed":
            leader = couplings[joint.name].leader
            total[leader] = total.get(leader, 0.0) + carried[joint.child]
    return total


def _mass_of(link: Link) -> float:
    """At least zero; one that is not said is not zero."""
    if link.inertial is None:
        return 0.0
    return 1.0 if link.inertial.mass is None else max(link.inertial.mass, 0.0)


# ---- names, visuals, leftovers


def _check_names(robot: Robot, findings: Findings) -> None:
    """Names that other programs read differently: TF, Gazebo and shells."""
    for element, records in (("link", robot.links), ("joint", robot.joints)):
        for record in records:
            if _RESERVED.search(record.name):
                message = "the name has white space, '/' or '::', or underscores around it"
                hint = "ROS and Gazebo give these a meaning of their own"
                findings.about("note", element, record, "reserved-name", message, hint)


def _check_visibility(robot: Robot, findings: Findings) -> None:
    """Visuals that nobody sees."""
    shared = {name: m for name, m in definitions(robot).items() if m.rgba is not None}
    for link in robot.links:
        for visual in link.visuals:
            own = visual.material
            if own is None:
                continue
            seen = own if own.rgba is not None else shared.get(own.name)
            if seen is not None and seen.rgba is not None and seen.rgba[3] == 0:
                message = f"its material '{show(own.name)}' is wholly transparent"
                hint = "the fourth number of rgba is 1 for what can be seen"
                line = visual.line
                findings.about("note", "visual", link, "invisible", message, hint, line=line)


def _check_gazebo(robot: Robot, findings: Findings) -> None:
    """``<gazebo reference="...">`` of a link or joint that does not exist."""
    names = dict.fromkeys(record.name for record in (*robot.links, *robot.joints))
    for extra in robot.extra:
        if not isinstance(extra, ExtraElement) or extra.tag != "gazebo":
            continue
        found = _REFERENCE.match(extra.xml)
        name = (found[1] or found[2] or "") if found else ""
        if found and name not in names and not re.search(r"[&\s]", name):
            message = f"it refers to '{show(name)}', which is no link or joint"
            hint, line = findings.nearest(name, names), extra.line
            findings.add(
                "warning", "gazebo-reference", message, line=line, element="gazebo", hint=hint
            )


def _check_transmissions(robot: Robot, findings: Findings) -> None:
    """Transmissions of joints that cannot move, and reductions that are no numbers."""
    fixed = {joint.name for joint in robot.joints if joint.type == "fixed"}
    for transmission in robot.transmissions:

        def warn(code: str, message: str, *, of: Any = transmission) -> None:
            findings.about("warning", "transmission", of, code, message)

        for joint in transmission.joints:
            if joint.name in fixed:
                message = f"joint '{show(joint.name)}' is fixed, so that nothing can drive it"
                warn("transmission-fixed", message)
        for part in (*transmission.joints, *transmission.actuators):
            text = part.mechanical_reduction
            if text is not None and not _is_reduction(text):
                message = f"the reduction '{show(text)}' is not a number other than zero"
                warn("transmission-reduction", message)


def _is_reduction(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return value != 0 and isfinite(value)
