"""Errors and oddities of a description that was read: every problem at once.

`check` says what a description is, `check_closely` what it probably was not meant to be. Everything
here is linear in the size of the file and free of recursion.
"""

from __future__ import annotations

import math
import re
from math import hypot, inf, isfinite, log10, pi, tau
from typing import Any, NamedTuple

from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.errors import Level
from linkwork.formats.structure import (
    JointEntry,
    LinkEntry,
    Mimic,
    check_mimics,
    check_structure,
    final_leaders,
    root_first,
)
from linkwork.formats.urdf.convert import LARGEST, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.materials import check_materials, definitions
from linkwork.formats.urdf.records import (
    ExtraElement,
    Joint,
    Limit,
    Link,
    Matrix3,
    Robot,
    Safety,
    Vector3,
)

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Structure
duplicate-transmission | warning | Two transmissions of one name. | Rename one.
missing-mass | warning | An `<inertial>` without a value of `<mass>`: it is unknown, and what needs
    it raises. | Say it, or leave out the `<inertial>`.
missing-inertia | warning | An `<inertial>` without a whole `<inertia>`: it is unknown; dynamics of
    the link raise. | Say it, or leave out the `<inertial>`.
version | warning | A version of URDF that is not known; read as 1.0. | Use "1.0".
# Joints
zero-axis | error | The axis of a joint that moves is zero. | Give a direction.
axis-length | warning | The axis has not length 1; its direction counts. | Scale it.
missing-limits | warning | A bound is missing: unlimited. | Add it.
reversed-limits | warning | `lower` is above `upper`. | Swap them.
huge-limits | warning | Limits beyond 1e100. | Leave them out for no limit.
unused-limits | warning | Bounds on a joint that has none. | Is it revolute?
# Masses
mass | warning | A negative mass, or inertia without mass. | Give the true mass.
inertia | warning | Zero with a mass, or not positive definite. | Compute it anew.
triangle | warning | A principal moment above the sum of the others: no body has that. | Compute it
    anew; are two entries swapped?
# Transmissions
transmission-type | warning | No `<type>`. | Add it.
transmission-parts | warning | No `<joint>`, or no `<actuator>`. | Add it.
transmission-joint | warning | Its joint does not exist. | Mind the spelling.
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


ALONG_AXIS = frozenset({"revolute", "continuous", "prismatic"})
"""The types of joints that move along or about their axis."""

WITH_AXIS = ALONG_AXIS | {"planar"}
LIMITED = frozenset({"revolute", "prismatic"})

FARTHEST = 20.0
"""Metres; an origin farther away than this is taken for one in millimetres."""

_TURN = tau + 1e-3  # an angle beyond a turn says nothing more than one within it
_CLOSE = 5e-5  # radians; half a millimetre at ten metres, so 1.5708 and 3.1416 are fine
_REFERENCE = re.compile(r"^<gazebo\b[^>]*?\breference\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_RESERVED = re.compile(r"\s|/|::|^__.*__$")
_DEGREES = (30.0, 1080.0)  # whole numbers from here to there are degrees more often than radians
_LONGEST = 20.0  # metres that a slider may be long
_SHARE = 0.01  # of the leader's range: what a follower may cut off without a word
_VERSIONS = (None, "1", "1.0", "1.1", "1.2")
_UNIT = 1e-6  # how far from 1 the length of an axis may be
_SHORTEST = 1e-100  # axes shorter than this vanish when they are normalised
_BEYOND = 1e-12  # rounding of determinants of numbers up to 1
_TINY, _HUGE = 1e-290, 1e290  # half a trace within these can be divided by
_UNKNOWN = "it is unknown: dynamics that need it are refused"
_ROUNDING = 1e-4  # files often give inertias with few digits


def check(robot: Robot, findings: Findings) -> None:
    """Add all that is wrong with the robot as a whole."""
    if robot.version not in _VERSIONS:
        message = f"version '{show(robot.version or '')}' is not known; read as 1.0"
        findings.add("warning", "version", message, line=robot.line, element="robot")
    joints = [
        JointEntry(j.name, j.type, j.parent, j.child, None, j.line)
        if (mimic := j.mimic) is None
        else JointEntry(j.name, j.type, j.parent, j.child, mimic.joint, j.line, mimic.line)
        for j in robot.joints
    ]
    links = [LinkEntry(link.name, link.line) for link in robot.links]
    check_structure(links, joints, findings, robot.line)
    for joint in robot.joints:
        if joint.type in WITH_AXIS:
            _check_axis(joint, findings)
        if joint.type in LIMITED:
            _check_limit(joint, findings)
        elif joint.limit is not None and (unused := _unused(joint.type, joint.limit)):
            findings.about(
                "warning", "joint", joint, "unused-limits", unused, line=joint.limit.line
            )
    check_mimics(joints, findings)
    _check_inertias(robot, findings)
    check_materials(robot, findings)
    _check_transmissions(robot, findings)


# ---- joints


def _check_axis(joint: Joint, findings: Findings) -> None:
    length = hypot(*joint.axis)
    if abs(length - 1.0) <= _UNIT:
        return
    if length < _SHORTEST:
        x, y, z = joint.axis
        message = f"the axis ({x:g} {y:g} {z:g}) has no direction, but the joint moves"
        hint = "give <axis> a direction, for example 0 0 1"
        findings.about("error", "joint", joint, "zero-axis", message, hint)
    else:
        message, hint = f"the axis has length {length:.9g}", "only its direction counts"
        findings.about("warning", "joint", joint, "axis-length", message, hint)


def _check_limit(joint: Joint, findings: Findings) -> None:
    """The bounds of a joint that has some."""
    limit = joint.limit
    if limit and limit.lower is not None and limit.upper is not None:
        if -LARGEST <= limit.lower <= limit.upper <= LARGEST:
            return
    line = limit.line if limit else joint.line

    def warn(code: str, message: str, hint: str = "") -> None:
        findings.about("warning", "joint", joint, code, message, hint, line=line)

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
    """The parts of a limit that do not count; "" where all do."""
    if kind == "fixed":
        return ""
    if kind != "spherical":
        given = limit.lower is not None or limit.upper is not None
        return f"a {kind} joint has no bounds; lower and upper are not used" if given else ""
    if limit.upper is not None and limit.upper <= 0.0:
        return f"upper {limit.upper:g} is no angle to turn by: it is not used"
    return (
        "a spherical joint has no lower bound; upper says how far it turns" if limit.lower else ""
    )


# ---- inertias


def _check_inertias(robot: Robot, findings: Findings) -> None:  # noqa: C901 -- case by case
    """Mass not negative; principal moments above zero and none above the sum of the others.

    Source: P. M. Wensing, S. Kim, J.-J. Slotine, IEEE RA-L 3 (2018), section II.
    """
    weighty: list[Link] = []
    for link in robot.links:
        inertial = link.inertial
        if inertial is None:
            continue
        if inertial.mass is None:
            _warn(findings, link, "missing-mass", "there is no <mass> with a value", _UNKNOWN)
        if inertial.inertia is None:
            _warn(findings, link, "missing-inertia", "there is no whole <inertia>", _UNKNOWN)
        if inertial.mass is not None and inertial.mass < 0:
            _warn(findings, link, "mass", f"the mass {inertial.mass:g} kg is negative")
        elif inertial.mass is None or inertial.inertia is None:
            continue
        elif any(map(any, inertial.inertia)):
            if inertial.mass == 0:
                _warn(findings, link, "mass", "there is inertia, but the mass is 0")
            if not plainly_of_a_body(inertial.inertia):
                weighty.append(link)
        elif inertial.mass > 0:
            _warn(findings, link, "inertia", "the inertia is 0, but there is mass", "a point mass?")
    if weighty:
        _check_moments(weighty, findings)


def plainly_of_a_body(inertia: Matrix3) -> bool:
    """Whether S = tr(I) / 2 - I is positive definite beyond rounding: the sum of m d dᵀ of a body.

    Then I is positive definite, and no principal moment is above the sum of the others. What is not
    so plain is left to the principal moments themselves.
    Source: as `_check_inertias`, eq. 8; Sylvester's criterion.
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    half = 0.5 * (xx + yy + zz)
    if not _TINY < half < _HUGE:
        return False
    a, b, c = 1 - xx / half, 1 - yy / half, 1 - zz / half
    d, e, f = xy / half, xz / half, yz / half
    minor = a * b - d * d
    determinant = c * minor - a * f * f - b * e * e - 2 * d * e * f
    return a > _BEYOND and minor > _BEYOND and determinant > _BEYOND


def _check_moments(links: list[Link], findings: Findings) -> None:
    """All links at once, each scaled by its largest entry so that nothing overflows."""
    # a description without inertias is read without NumPy
    import numpy as np  # noqa: PLC0415 -- see above

    from linkwork.spatial.inertias import principal_moments  # noqa: PLC0415 -- see above

    matrices = np.array([link.inertial.inertia for link in links if link.inertial], np.float64)
    scale = np.abs(matrices).max(axis=(1, 2))
    moments, excess = principal_moments(matrices / scale[:, None, None])
    definite = moments[:, 0] > 0
    triangle = excess <= _ROUNDING * moments[:, 2]
    for k in np.flatnonzero(~(definite & triangle)).tolist():
        a, b, c = (_three_digits(float(scale[k]), moment) for moment in moments[k].tolist())
        if definite[k]:
            message = (
                f"no body has the principal moments {a}, {b}, {c}: one is above the others' sum"
            )
            _warn(findings, links[k], "triangle", message)
        else:
            message = f"the inertia is not positive definite: principal moments {a}, {b}, {c}"
            _warn(findings, links[k], "inertia", message)


def _three_digits(a: float, b: float) -> str:
    """Three digits of a product, which may be beyond the largest number."""
    if math.isfinite(a * b):
        return f"{a * b:.3g}"
    from decimal import Decimal  # noqa: PLC0415 -- hardly any description needs it

    return f"{Decimal(a) * Decimal(b):.3g}"


def _warn(findings: Findings, link: Link, code: str, message: str, hint: str = "") -> None:
    line = link.inertial.line if link.inertial else link.line
    findings.about("warning", "inertial", link, code, message, hint, line=line)


# ---- transmissions


def _check_transmissions(robot: Robot, findings: Findings) -> None:
    """Names used twice, joints that do not exist, and parts that are missing."""
    joints = dict.fromkeys(joint.name for joint in robot.joints)
    first: dict[str, int] = {}
    for transmission in robot.transmissions:
        name = transmission.name

        def warn(code: str, message: str, hint: str = "", *, of: object = transmission) -> None:
            findings.about("warning", "transmission", of, code, message, hint)

        if name and name in first:
            warn("duplicate-transmission", f"the name is taken: line {first[name]} has it")
        first.setdefault(name, transmission.line)
        if not transmission.type:
            warn("transmission-type", "it has no <type>")
        if not transmission.joints:
            warn("transmission-parts", "it has no <joint>")
        if not transmission.actuators:
            warn("transmission-parts", "it has no <actuator>")
        for joint in transmission.joints:
            if joint.name and joint.name not in joints:
                message = f"joint '{show(joint.name)}' does not exist"
                warn("transmission-joint", message, findings.nearest(joint.name, joints))


# ---- what looks like a slip


def check_closely(robot: Robot, findings: Findings) -> None:
    """Add what looks like a slip although it is allowed: units, ranges, masses, names, leftovers.

    Nothing here is certain, so nothing is an error. It is for ``linkwork check``, not every load.
    """
    _check_origins(robot, findings)
    _check_joints_closely(robot, findings)
    _check_masses(robot, findings)
    _check_names(robot, findings)
    _check_visibility(robot, findings)
    _check_gazebo(robot, findings)
    _check_drives(robot, findings)


# ---- origins


class _Origin(NamedTuple):
    """A pose that a file gives, and the element that it belongs to."""

    element: str
    name: str
    line: int
    xyz: Vector3
    rpy: Vector3


def _check_origins(robot: Robot, findings: Findings) -> None:
    """Angles in degrees, positions in millimetres, and right angles with few digits."""
    origins = [_Origin("joint", j.name, j.line, j.xyz, j.rpy) for j in robot.joints]
    for link in robot.links:
        parts: list[tuple[str, Any]] = [("inertial", link.inertial)] if link.inertial else []
        parts += [("visual", visual) for visual in link.visuals]
        parts += [("collision", collision) for collision in link.collisions]
        origins += [_Origin(tag, link.name, p.line, p.xyz, p.rpy) for tag, p in parts]
    rounded: list[tuple[_Origin, float]] = []
    for origin in origins:
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


def _check_joints_closely(  # noqa: C901, PLR0912 -- case by case
    robot: Robot, findings: Findings
) -> None:
    """Limits in other units, of zero width, of zero effort; soft limits; followers' limits."""
    for joint in robot.joints:
        limit = joint.limit

        def warn(code: str, message: str, hint: str, line: int, of: Joint = joint) -> None:
            findings.about("warning", "joint", of, code, message, hint, line=line)

        def note(code: str, message: str, hint: str, line: int, of: Joint = joint) -> None:
            findings.about("note", "joint", of, code, message, hint, line=line)

        if joint.type in WITH_AXIS and joint.layout and "axis" not in joint.layout:
            note("no-axis", "it has no <axis>: 1 0 0", "write it, even if x is meant", joint.line)
        if limit is not None and joint.type in LIMITED:
            given = [bound for bound in (limit.lower, limit.upper) if bound is not None]
            most = max(map(abs, given), default=0.0)
            shown = f"the limits [{', '.join(f'{bound:g}' for bound in given)}]: "
            whole = all(float(bound).is_integer() for bound in given)
            if 10 <= most < inf and log10(most) == round(log10(most)):
                pass  # 10, 100, 1000, ...: what is written for "any"
            elif joint.type == "revolute" and whole and _DEGREES[0] <= most <= _DEGREES[1]:
                hint = "limits of a revolute joint are in radians"
                warn("degree-limits", f"{shown}degrees?", hint, limit.line)
            elif joint.type == "prismatic" and most > _LONGEST:
                hint = "limits of a prismatic joint are in metres"
                warn("millimetre-limits", f"{shown}millimetres?", hint, limit.line)
            if len(given) == 2 and given[0] == given[1]:
                message = f"both limits are {given[0]:g}, so that it cannot move"
                note("zero-range", message, "is it a fixed joint?", limit.line)
        if limit is not None and joint.type in ALONG_AXIS and joint.mimic is None:
            # exporters write 0 where they know nothing
            hint = "write the true one; 0 lets no motor move the joint"
            if limit.effort == 0:
                note("zero-effort", "its largest effort is 0", hint, limit.line)
            if limit.velocity == 0:
                note("zero-velocity", "its largest velocity is 0", hint, limit.line)
        if joint.safety is not None and joint.type in LIMITED:
            _check_soft_limits(joint, joint.safety, findings)
        if joint.mimic is not None and joint.mimic.multiplier == 0 and joint.type != "fixed":
            message, hint = "its multiplier is 0, so that it never moves", "is it a fixed joint?"
            warn("mimic-zero", message, hint, joint.mimic.line)
    joints = {joint.name: joint for joint in reversed(robot.joints)}
    for name, coupling in final_couplings(robot).items():
        if joints[name].limit is not None and coupling.multiplier != 0:
            _check_follower(joints[name], joints[coupling.leader], coupling, findings)


def _bounds(joint: Joint) -> tuple[float, float]:
    """The range of a joint; infinite where nothing is said."""
    limit = joint.limit
    if limit is None or joint.type not in LIMITED:
        return -inf, inf
    return (
        -inf if limit.lower is None else limit.lower,
        inf if limit.upper is None else limit.upper,
    )


def _check_soft_limits(joint: Joint, safety: Safety, findings: Findings) -> None:
    """Soft limits lie within the hard ones, and in order.

    Source: https://wiki.ros.org/pr2_controller_manager/safety_limits
    """
    lower, upper = _bounds(joint)
    low, high = safety.soft_lower_limit, safety.soft_upper_limit
    if low is not None and high is not None and low > high:
        message = f"soft_lower_limit {low:g} is above soft_upper_limit {high:g}"
        findings.about("warning", "joint", joint, "soft-limits", message, line=safety.line)
        return
    outside = [
        f"{name} {value:g}"
        for name, value in (("soft_lower_limit", low), ("soft_upper_limit", high))
        if value is not None and lower <= upper and not lower <= value <= upper
    ]
    if outside:
        message = f"{' and '.join(outside)} outside the limits [{lower:g}, {upper:g}]"
        hint = "soft limits stop a joint before its limits do"
        findings.about("warning", "joint", joint, "soft-limits", message, hint, line=safety.line)


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


def _check_follower(joint: Joint, leader: Joint, coupling: Mimic, findings: Findings) -> None:
    """The rest of a leader's range where its follower has limits of its own."""
    line = joint.limit.line if joint.limit else 0
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
        findings.about("warning", "joint", joint, "follower-limits", message, hint, line=line)
        return
    if whole < inf and whole - rest > _SHARE * whole:
        message = f"its limits leave '{name}' only [{left + 0.0:g}, {right + 0.0:g}]"
        hint = f"'{name}' has the limits [{low:g}, {high:g}]; this joint is {rule}"
        level: Level = "note" if rest > _SHARE * whole else "warning"
        findings.about(level, "joint", joint, "narrowed-leader", message, hint, line=line)


# ---- masses


def _check_masses(robot: Robot, findings: Findings) -> None:  # noqa: C901 -- case by case
    """Joints that move nothing with mass; one note where the whole robot has none.

    A joint's followers move with it, so theirs counts as its own. Descriptions that are no tree are
    passed over, as that is reported already.
    """
    mass = dict.fromkeys((link.name for link in robot.links), 0.0)
    for link in robot.links:
        if link.inertial is not None:  # a mass that is not said is not zero
            mass[link.name] = 1.0 if link.inertial.mass is None else max(link.inertial.mass, 0.0)
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
    couplings, followers = final_couplings(robot), dict[str, float]()  # by the joint they follow
    for joint in robot.joints:
        if joint.name in couplings and joint.type != "fixed":
            leader = couplings[joint.name].leader
            followers[leader] = followers.get(leader, 0.0) + carried[joint.child]
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


def _check_drives(robot: Robot, findings: Findings) -> None:
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
            try:
                is_ratio = text is None or (float(text) != 0 and isfinite(float(text)))
            except ValueError:
                is_ratio = False
            if not is_ratio:
                message = f"the reduction '{show(text or '')}' is not a number other than zero"
                warn("transmission-reduction", message)
