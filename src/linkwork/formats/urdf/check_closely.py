"""What looks like a slip although it is allowed: for ``linkwork check``, not for every load.

Nothing here is certain, so nothing here is an error. The checks of `check` say what a description
*is*; these say what it probably was not meant to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite, pi, tau
from typing import NamedTuple

from linkwork.formats.urdf.check_joints_closely import check_joints_closely
from linkwork.formats.urdf.check_masses import check_masses
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import ExtraElement, Material, Robot, Transmission, Vector3

FARTHEST = 20.0
"""Metres; an origin farther away than this is taken for one in millimetres."""

_TURN = tau + 1e-3  # an angle beyond a turn says nothing more than one within it
_CLOSE = 5e-5  # radians; half a millimetre at ten metres, so 1.5708 and 3.1416 are fine
_REFERENCE = re.compile(r"^<gazebo\b[^>]*?\breference\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_RESERVED = re.compile(r"\s|/|::|^__.*__$")


def check_closely(robot: Robot, problems: Findings) -> None:
    """Add what looks like a slip to ``problems``: units, ranges, masses, names, leftovers.

    Linear in the size of the description and free of recursion.
    """
    _check_origins(robot, problems)
    check_joints_closely(robot, problems)
    check_masses(robot, problems)
    _check_names(robot, problems)
    _check_looks(robot, problems)
    _check_gazebo(robot, problems)
    _check_transmissions(robot, problems)


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


def _check_origins(robot: Robot, problems: Findings) -> None:
    """Angles in degrees, positions in millimetres, and right angles with few digits."""
    rounded: list[tuple[_Origin, float]] = []
    for origin in _origins(robot):
        if max(map(abs, origin.rpy)) > _TURN:
            x, y, z = origin.rpy
            _suspect(
                problems,
                origin,
                "degree-angles",
                f"rpy='{x:g} {y:g} {z:g}' turns by more than a whole turn: degrees?",
                "angles are in radians; pi is 3.141592653589793",
            )
        elif max(map(abs, origin.xyz)) > FARTHEST:
            x, y, z = origin.xyz
            _suspect(
                problems,
                origin,
                "far-origin",
                f"xyz='{x:g} {y:g} {z:g}' is far away: millimetres?",
                "positions are in metres",
            )
        else:
            rounded += [(origin, angle) for angle in origin.rpy if _is_rounded(angle)]
    if rounded:
        first, angle = min(rounded, key=lambda found: found[0].line)
        count = "one angle is" if len(rounded) == 1 else f"{len(rounded)} angles are"
        message = f"{count} a right angle with few digits, here {angle:g}"
        hint = f"write {_exact(angle)!r}; the error is {abs(angle - _exact(angle)):.1g} rad"
        problems.add(
            "note",
            "rounded-angles",
            message,
            line=first.line,
            element=first.element,
            name=first.name,
            hint=hint,
        )


def _exact(angle: float) -> float:
    """The multiple of pi / 2 that is nearest to an angle."""
    return round(angle / (pi / 2)) * (pi / 2)


def _is_rounded(angle: float) -> bool:
    """Whether a right angle was cut or rounded to at most four digits: 1.57, 3.141, 1.5707."""
    away = abs(angle - _exact(angle))
    if abs(angle) < 1 or not _CLOSE < away < 0.01:
        return False
    return any(away < 10.0**-n and abs(angle - round(angle, n)) < 1e-9 for n in (2, 3, 4))


def _suspect(problems: Findings, origin: _Origin, code: str, message: str, hint: str) -> None:
    problems.add(
        "warning",
        code,
        message,
        line=origin.line,
        element=origin.element,
        name=origin.name,
        hint=hint,
    )


def _check_names(robot: Robot, problems: Findings) -> None:
    """Names that other programs read differently: TF, Gazebo and shells."""
    for element, records in (("link", robot.links), ("joint", robot.joints)):
        for record in records:
            if _RESERVED.search(record.name):
                message = "the name has white space, '/' or '::', or underscores around it"
                hint = "ROS and Gazebo give these a meaning of their own"
                problems.add(
                    "note",
                    "reserved-name",
                    message,
                    line=record.line,
                    element=element,
                    name=record.name,
                    hint=hint,
                )


def _check_looks(robot: Robot, problems: Findings) -> None:
    """Visuals that nobody sees."""
    named: dict[str, Material] = {}
    for material in robot.materials:
        if material.rgba is not None:
            named.setdefault(material.name, material)
    for link in robot.links:
        for visual in link.visuals:
            own = visual.material
            if own is None:
                continue
            look = own if own.rgba is not None else named.get(own.name)
            if look is not None and look.rgba is not None and look.rgba[3] == 0:
                problems.add(
                    "note",
                    "invisible",
                    f"its material '{show(own.name)}' is wholly transparent",
                    line=visual.line,
                    element="visual",
                    name=link.name,
                    hint="the fourth number of rgba is 1 for what can be seen",
                )


def _check_gazebo(robot: Robot, problems: Findings) -> None:
    """``<gazebo reference="...">`` of a link or joint that does not exist."""
    names: set[str] | None = None
    for extra in robot.extra:
        if not isinstance(extra, ExtraElement) or extra.tag != "gazebo":
            continue
        found = _REFERENCE.match(extra.xml)
        if found is None:
            continue
        if names is None:
            names = {record.name for record in (*robot.links, *robot.joints)}
        name = found[1] or found[2] or ""
        if name not in names and not re.search(r"[&\s]", name):
            message = f"it refers to '{show(name)}', which is no link or joint"
            hint = problems.nearest(name, names)
            problems.add(
                "warning",
                "gazebo-reference",
                message,
                line=extra.line,
                element="gazebo",
                hint=hint,
            )


def _check_transmissions(robot: Robot, problems: Findings) -> None:
    """Transmissions of joints that cannot move, and reductions that are no numbers."""
    fixed = {joint.name for joint in robot.joints if joint.type == "fixed"}
    for transmission in robot.transmissions:
        for joint in transmission.joints:
            if joint.name in fixed:
                message = f"joint '{show(joint.name)}' is fixed, so that nothing can drive it"
                _odd_transmission(problems, transmission, "transmission-fixed", message)
        for part in (*transmission.joints, *transmission.actuators):
            text = part.mechanical_reduction
            if text is not None and not _is_reduction(text):
                message = f"the reduction '{show(text)}' is not a number other than zero"
                _odd_transmission(problems, transmission, "transmission-reduction", message)


def _is_reduction(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return value != 0 and isfinite(value)


def _odd_transmission(
    problems: Findings, transmission: Transmission, code: str, message: str
) -> None:
    problems.add(
        "warning",
        code,
        message,
        line=transmission.line,
        element="transmission",
        name=transmission.name,
    )
