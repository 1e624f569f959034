"""What is wrong with a description that was read, and what is odd about it: every problem at once.

Everything here is linear in the size of the file and free of recursion. What only looks like a slip
is for `check_closely`.
"""

from __future__ import annotations

import math
from math import hypot

from linkwork.formats.structure import JointEntry, LinkEntry, check_mimics, check_structure
from linkwork.formats.urdf.convert import LARGEST, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.materials import check_materials
from linkwork.formats.urdf.records import Inertial, Joint, Limit, Link, Matrix3, Robot

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
"""


ALONG_AXIS = frozenset({"revolute", "continuous", "prismatic"})
"""The types of joints that move along or about their axis."""

WITH_AXIS = ALONG_AXIS | {"planar"}
LIMITED = frozenset({"revolute", "prismatic"})

_VERSIONS = (None, "1", "1.0", "1.1", "1.2")
_UNIT = 1e-6  # how far from 1 the length of an axis may be
_SHORTEST = 1e-100  # axes shorter than this vanish when they are normalised
_BEYOND = 1e-12  # rounding of determinants of numbers up to 1
_TINY, _HUGE = 1e-290, 1e290  # half a trace within these can be divided by
_ROUNDING = 1e-4  # files often give inertias with few digits


def check(robot: Robot, findings: Findings) -> None:
    """Add all that is wrong with the robot as a whole."""
    if robot.version not in _VERSIONS:
        message = f"version '{show(robot.version or '')}' is not known; read as 1.0"
        findings.add("warning", "version", message, line=robot.line, element="robot")
    joints = [_entry(joint) for joint in robot.joints]
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


def _entry(joint: Joint) -> JointEntry:
    name, kind, parent, child, mimic = (
        joint.name,
        joint.type,
        joint.parent,
        joint.child,
        joint.mimic,
    )
    if mimic is None:
        return JointEntry(name, kind, parent, child, None, joint.line)
    return JointEntry(name, kind, parent, child, mimic.joint, joint.line, mimic.line)


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
    """What of a limit does not count; "" where all does."""
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


def _check_inertias(robot: Robot, findings: Findings) -> None:
    """Mass not negative; principal moments above zero and none above the sum of the others.

    Source: P. M. Wensing, S. Kim, J.-J. Slotine, IEEE RA-L 3 (2018), section II.
    """
    weighty: list[Link] = []
    for link in robot.links:
        inertial = link.inertial
        if inertial is None:
            continue
        if inertial.mass is None or inertial.inertia is None:
            _check_said(link, inertial, findings)
        elif inertial.mass < 0:
            _warn(findings, link, "mass", f"the mass {inertial.mass:g} kg is negative")
        elif any(map(any, inertial.inertia)):
            if inertial.mass == 0:
                _warn(findings, link, "mass", "there is inertia, but the mass is 0")
            if not plainly_of_a_body(inertial.inertia):
                weighty.append(link)
        elif inertial.mass > 0:
            _warn(findings, link, "inertia", "the inertia is 0, but there is mass", "a point mass?")
    if weighty:
        _check_moments(weighty, findings)


def _check_said(link: Link, inertial: Inertial, findings: Findings) -> None:
    """What an inertial leaves out is unknown: dynamics that need it are refused."""
    hint = "it is unknown: dynamics that need it are refused"
    if inertial.mass is None:
        _warn(findings, link, "missing-mass", "there is no <mass> with a value", hint)
    if inertial.inertia is None:
        _warn(findings, link, "missing-inertia", "there is no whole <inertia>", hint)
    if inertial.mass is not None and inertial.mass < 0:
        _warn(findings, link, "mass", f"the mass {inertial.mass:g} kg is negative")


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
