"""Giving things other names, with every reference followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from linkwork.errors import InputError
from linkwork.formats.urdf.edit import looks
from linkwork.formats.urdf.edit.outcome import outcome
from linkwork.formats.urdf.edit.references import References
from linkwork.formats.urdf.edit.tree import joint_names, link_names, renaming, robot_of
from linkwork.formats.urdf.edit.walk import rebuilt
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import (
    Document,
    ExtraElement,
    Joint,
    Link,
    Material,
    Mimic,
    Robot,
    Transmission,
    TransmissionJoint,
)

_NONE: Mapping[str, str] = MappingProxyType({})


def rename(
    document: Document,
    *,
    links: Mapping[str, str] = _NONE,
    joints: Mapping[str, str] = _NONE,
    materials: Mapping[str, str] = _NONE,
    transmissions: Mapping[str, str] = _NONE,
    robot: str | None = None,
) -> Document:
    """The description with other names, from old to new; names may be exchanged.

    References are followed: parents and children, mimic, transmissions, materials of shapes, and
    in unknown elements `<gazebo reference>`, the joints of `<ros2_control>` and the parent of a
    `<sensor>`. An unknown element whose text holds an old name of a link, joint or transmission
    anywhere else is left as it is, with a finding of code ``name-left``.

    Raises: UnknownNameError for an old name that does not exist, InputError for a new one that is
    taken or empty, DescriptionError for one that no file could hold.
    """
    old = robot_of(document)
    names = _Names(
        renaming("link", links, link_names(old)),
        renaming("joint", joints, joint_names(old)),
        renaming("material", materials, looks.names(old)),
        renaming("transmission", transmissions, _transmissions(old)),
    )
    if robot is not None and (not isinstance(robot, str) or not robot.strip()):
        raise InputError(f"the robot cannot be called {robot!r}: give it a name")
    return _renamed(document, names, robot)


def prefix(document: Document, text: str) -> Document:
    """The description with ``text`` before the name of every link, joint, material, transmission.

    References are followed as in `rename`; the robot keeps its name.

    Raises: InputError for what is no text, DescriptionError for one that no file could hold.
    """
    if not isinstance(text, str):
        raise InputError(f"a prefix is a text, not {text!r}")
    old = robot_of(document)
    kinds = (link_names(old), joint_names(old), looks.names(old), _transmissions(old))
    return _renamed(document, _Names(*({n: text + n for n in names} for names in kinds)), None)


@dataclass(frozen=True, slots=True)
class _Names:
    """Old names to new ones, of each kind."""

    links: dict[str, str]
    joints: dict[str, str]
    materials: dict[str, str]
    transmissions: dict[str, str]


def _transmissions(robot: Robot) -> dict[str, None]:
    return {t.name: None for t in robot.transmissions if t.name}


def _renamed(document: Document, names: _Names, robot: str | None) -> Document:
    old = document.robot
    findings = Findings(old.file)
    links = {name: names.links.get(name, name) for name in link_names(old)}
    joints = {name: names.joints.get(name, name) for name in joint_names(old)}
    references = References(links, joints, findings, names.transmissions)

    new_values: dict[type, Callable[[Any], dict[str, str]]] = {
        Link: lambda r: {"name": links[r.name]},
        Joint: lambda r: {
            "name": joints[r.name],
            "parent": links[r.parent],
            "child": links[r.child],
        },
        Mimic: lambda r: {"joint": _new(joints, r.joint)},
        TransmissionJoint: lambda r: {"name": _new(joints, r.name)},
        Transmission: lambda r: {"name": _new(names.transmissions, r.name)},
        Material: lambda r: {"name": _new(names.materials, r.name)},
    }

    def change(record: Any) -> Any:
        if isinstance(record, ExtraElement):
            return references.follow(record)
        values = new_values.get(type(record))
        return record if values is None else _with(record, **values(record))

    new: Robot = rebuilt(old, change)
    return outcome(_with(new, name=old.name if robot is None else robot), findings)


def _new(names: Mapping[str, str], name: str) -> str:
    return names.get(name, name)


def _with(record: Any, **values: str) -> Any:
    """The record with other values; itself where they are the same."""
    if all(getattr(record, name) == value for name, value in values.items()):
        return record
    return replace(record, **values)
