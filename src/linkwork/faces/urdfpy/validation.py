"""Rows S2-072 and S2-171 to S2-179: whether the members of a robot form one.

Links, joints and couplings are judged by the rules for files, of `linkwork.formats.urdf.check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwork.errors import Finding
from linkwork.faces.urdfpy.joint import Joint, lacks_limit
from linkwork.faces.urdfpy.link import Link, Material
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.values import WrongTypeError
from linkwork.formats.urdf import records
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.findings import Findings


def members(name: str, value: Any, kind: type) -> list[Any]:
    """A list of objects of one class; None is an empty one.

    Raises: WrongTypeError.
    """
    if value is None:
        return []
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        given = type(value).__name__
        raise WrongTypeError(f"URDF.{name} is a list of {kind.__name__}, not {given}")
    listed = list(value)
    for k, one in enumerate(listed):
        if not isinstance(one, kind):
            given = type(one).__name__
            raise WrongTypeError(f"URDF.{name}[{k}] is a {kind.__name__}, not {given}")
    return listed


def validate(
    name: str,
    links: Sequence[Link],
    joints: Sequence[Joint],
    transmissions: Sequence[Transmission],
    materials: Sequence[Material],
) -> None:
    """Whether these form a robot.

    Raises: DescriptionError with everything that is wrong.
    """
    problems = Findings(None)
    robot = records.Robot(
        name,
        tuple(records.Link(link.name, line=_line(link)) for link in links),
        tuple(_bones(joint) for joint in joints),
    )
    check(robot, problems)
    for element, owners in (("transmission", transmissions), ("material", materials)):
        _names(element, owners, problems)
    for joint in joints:
        if lacks_limit(joint):
            _error(problems, "missing-limits", lacks_limit(joint), "joint", joint)
    known = {joint.name for joint in joints}
    for transmission in transmissions:
        for driven in transmission.joints:
            if driven.name not in known:
                message = f"joint '{driven.name}' does not exist"
                hint = problems.nearest(driven.name, known)
                _error(problems, "transmission-joint", message, "transmission", transmission, hint)
    if problems.failed:
        raise problems.error()


def _line(owner: Any) -> int:
    return 0 if owner.record is None else owner.record.line


def _bones(joint: Joint) -> records.Joint:
    """What of a joint decides about the tree."""
    x, y, z = joint.__dict__["_axis"].tolist()
    mimic, limit = joint.mimic, joint.limit
    return records.Joint(
        joint.name,
        joint.joint_type,
        joint.parent,
        joint.child,
        axis=(x, y, z),
        limit=None if limit is None else records.Limit(limit.lower, limit.upper),
        mimic=None if mimic is None else records.Mimic(mimic.joint, line=_line(mimic)),
        line=_line(joint),
    )


def _names(element: str, owners: Sequence[Any], problems: Findings) -> None:
    taken: set[str] = set()
    for owner in owners:
        if owner.name in taken:
            message = f"two {element}s with name '{owner.name}'"
            _error(problems, f"duplicate-{element}", message, element, owner)
        taken.update([owner.name] if owner.name else ())  # several materials may have no name


def _error(
    problems: Findings, code: str, message: str, element: str, owner: Any, hint: str = ""
) -> None:
    problems.add(
        "error", code, message, line=_line(owner), element=element, name=owner.name, hint=hint
    )


def share_materials(
    links: Sequence[Link], materials: Sequence[Material]
) -> tuple[list[Material], list[Finding]]:
    """One material for each name: the visuals' are replaced by the first of their name.

    Returns the materials with the new ones of visuals, and findings where two of one name look
    different. A material without a name belongs to its visual alone.
    """
    shared = {material.name: material for material in materials}
    listed, findings = list(materials), list[Finding]()
    for link in links:
        for shape in link.visuals:
            material: Material | None = shape.material
            if material is None:
                continue
            if material.name:
                first = shared.setdefault(material.name, material)
                if first is material and material not in listed:
                    listed.append(material)
                elif first is not material:
                    findings += _differs(first, material)
                    shape.material = first
            shape.worn = shape.material, shape.material.look()
    return listed, findings


def _differs(first: Material, other: Material) -> list[Finding]:
    if not other.looks or first.look()[1] == other.look()[1]:
        return []
    message = "it looks different from the first of its name, which counts"
    line = _line(other)
    return [Finding("warning", "material-differs", message, "", line, "material", other.name)]
