"""What is odd about inertias, materials and transmissions: findings, never errors."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linkwork.errors import Level
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Inertial, Link, Material, Matrix3, Robot

_BEYOND = 1e-12  # rounding of determinants of numbers up to 1
_TINY, _HUGE = 1e-290, 1e290  # half a trace within these can be divided by
_ROUNDING = 1e-4  # files often give inertias with few digits


def check_inertias(robot: Robot, problems: Findings) -> None:
    """Mass not negative; principal moments above zero and none above the sum of the others.

    Source: P. M. Wensing, S. Kim, J.-J. Slotine, IEEE RA-L 3 (2018), section II.
    """
    weighty: list[Link] = []
    for link in robot.links:
        inertial = link.inertial
        if inertial is None:
            continue
        if inertial.mass is None or inertial.inertia is None:
            _check_said(problems, link, inertial)
        elif inertial.mass < 0:
            _warn(problems, link, "mass", f"the mass {inertial.mass:g} kg is negative")
        elif any(map(any, inertial.inertia)):
            if inertial.mass == 0:
                _warn(problems, link, "mass", "there is inertia, but the mass is 0")
            if not plainly_of_a_body(inertial.inertia):
                weighty.append(link)
        elif inertial.mass > 0:
            _warn(problems, link, "inertia", "the inertia is 0, but there is mass", "a point mass?")
    if weighty:
        _check_moments(weighty, problems)


def _check_said(problems: Findings, link: Link, inertial: Inertial) -> None:
    """What an inertial leaves out is unknown: dynamics that need it are refused."""
    hint = "it is unknown: dynamics that need it are refused"
    if inertial.mass is None:
        _warn(problems, link, "missing-mass", "there is no <mass> with a value", hint)
    if inertial.inertia is None:
        _warn(problems, link, "missing-inertia", "there is no whole <inertia>", hint)
    if inertial.mass is not None and inertial.mass < 0:
        _warn(problems, link, "mass", f"the mass {inertial.mass:g} kg is negative")


def plainly_of_a_body(inertia: Matrix3) -> bool:
    """Whether S = tr(I) / 2 - I is positive definite beyond rounding: the sum of m d dᵀ of a body.

    Then I is positive definite, and no principal moment is above the sum of the others. What is not
    so plain is left to the principal moments themselves.
    Source: as `check_inertias`, eq. 8; Sylvester's criterion.
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


def _check_moments(links: list[Link], problems: Findings) -> None:
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
        a, b, c = (_product(float(scale[k]), moment) for moment in moments[k].tolist())
        if definite[k]:
            message = (
                f"no body has the principal moments {a}, {b}, {c}: one is above the others' sum"
            )
            _warn(problems, links[k], "triangle", message)
        else:
            message = f"the inertia is not positive definite: principal moments {a}, {b}, {c}"
            _warn(problems, links[k], "inertia", message)


def _product(a: float, b: float) -> str:
    """Three digits of a product, which may be beyond the largest number."""
    if math.isfinite(a * b):
        return f"{a * b:.3g}"
    from decimal import Decimal  # noqa: PLC0415 -- hardly any description needs it

    return f"{Decimal(a) * Decimal(b):.3g}"


def _warn(problems: Findings, link: Link, code: str, message: str, hint: str = "") -> None:
    line = link.inertial.line if link.inertial else link.line
    problems.add("warning", code, message, line=line, element="inertial", name=link.name, hint=hint)


def _worn(robot: Robot) -> Iterator[Material]:
    """The materials that shapes have, in the order of the file."""
    for link in robot.links:
        for visual in link.visuals:
            if visual.material is not None:
                yield visual.material
        for collision in link.collisions:
            if collision.material is not None:
                yield collision.material


def _look(material: Material) -> tuple[object, object] | None:
    """What a material looks like; None for a mere reference."""
    if material.rgba is None and not material.texture:
        return None
    return material.rgba, material.texture


def check_materials(robot: Robot, problems: Findings) -> None:
    """References that lead nowhere, one name for two looks, materials that nothing uses."""
    worn = list(_worn(robot))
    if not worn and not robot.materials:
        return
    first: dict[str, Material] = {}
    for material in (*robot.materials, *worn):
        look = _look(material)
        if look is not None and material.name:
            known = first.setdefault(material.name, material)
            if known is not material and _look(known) != look:
                message = f"it looks different from line {known.line}, which counts"
                _note(problems, "warning", "material-differs", message, material)
    for material in (*robot.materials, *worn):
        if _look(material) is None and material.name not in first:
            message = "no colour or texture is defined for it"
            _note(problems, "warning", "material-undefined", message, material)
    used = {material.name for material in worn}
    for material in robot.materials:
        if not material.name:
            message = "a material without a name cannot be used"
            _note(problems, "warning", "material-name", message, material)
        elif material.name not in used:
            _note(problems, "note", "material-unused", "nothing uses this material", material)


def _note(problems: Findings, level: Level, code: str, message: str, material: Material) -> None:
    problems.add(level, code, message, line=material.line, element="material", name=material.name)


def check_transmissions(robot: Robot, joints: dict[str, int], problems: Findings) -> None:
    """Names used twice, joints that do not exist, and parts that are missing."""
    first: dict[str, int] = {}
    for k, transmission in enumerate(robot.transmissions):
        name, line = transmission.name, transmission.line

        def warn(
            code: str, message: str, hint: str = "", *, at: int = line, of: str = name
        ) -> None:
            problems.add(
                "warning", code, message, line=at, element="transmission", name=of, hint=hint
            )

        if first.setdefault(name, k) != k and name:
            warn(
                "duplicate-transmission",
                f"the name is taken: line {robot.transmissions[first[name]].line} has it",
            )
        if not transmission.type:
            warn("transmission-type", "it has no <type>")
        if not transmission.joints:
            warn("transmission-parts", "it has no <joint>")
        if not transmission.actuators:
            warn("transmission-parts", "it has no <actuator>")
        for joint in transmission.joints:
            if joint.name and joint.name not in joints:
                message = f"joint '{show(joint.name)}' does not exist"
                warn("transmission-joint", message, problems.nearest(joint.name, joints))
