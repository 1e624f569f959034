"""The ground of every edit: the tree, its records one by one, names of files, the outcome."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from linkwork.errors import InputError, UnknownNameError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document, Joint, Material, Mesh, Robot
from linkwork.formats.urdf.schema import record_fields
from linkwork.formats.urdf.validate import checked

# ---- the tree


def robot_of(document: Document) -> Robot:
    """The records of a document.

    Raises: InputError for anything else, such as a loaded robot.
    """
    if not isinstance(document, Document):
        given = type(document).__name__
        raise InputError(
            f"a Document is edited, not {given}; linkwork.urdf.read gives one, "
            "and linkwork.urdf.document makes one of records"
        )
    return document.robot


def carriers(robot: Robot) -> dict[str, Joint]:
    """Link to the joint that it hangs on; all but the root are in it."""
    return {joint.child: joint for joint in robot.joints}


def root_of(robot: Robot) -> str:
    """The name of the link that hangs on no joint."""
    holder = carriers(robot)
    return next(link.name for link in robot.links if link.name not in holder)


def path_to(robot: Robot, link: str) -> list[Joint]:
    """The joints from the root down to a link."""
    holder, path = carriers(robot), list[Joint]()
    while link in holder:
        path.append(holder[link])
        link = path[-1].parent
    return path[::-1]


def below(robot: Robot, link: str) -> set[str]:
    """The link and all that hang on it."""
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    found, waiting = {link}, [link]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found


def link_names(robot: Robot) -> list[str]:
    """The links' names, in order."""
    return [link.name for link in robot.links]


def joint_names(robot: Robot) -> list[str]:
    """The joints' names, in order."""
    return [joint.name for joint in robot.joints]


def known(kind: str, name: str, names: Collection[str]) -> None:
    """Raises: UnknownNameError when there is no such name."""
    if name not in names:
        raise UnknownNameError(kind, name, list(names))


def free(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is taken."""
    number, new = 1, name
    while new in taken:
        number += 1
        new = f"{name}_{number}"
    return new


def renaming(kind: str, changes: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The changes of names that are changes, once they have been found possible.

    Raises: UnknownNameError for an old name that does not exist; InputError for a new one that is
    taken, given twice, or no name, and for what is no mapping.
    """
    if not isinstance(changes, Mapping):
        given = type(changes).__name__
        raise InputError(f"new names of a {kind} are given as {{old: new}}, not as {given}")
    names = dict.fromkeys(names)
    unchanged, new_names = set(names), dict[str, str]()
    for old, new in changes.items():
        known(kind, old, names)
        blank = kind in ("link", "joint") and not str(new).strip()
        if not isinstance(new, str) or blank:
            raise InputError(f"{kind} '{show(old)}' cannot be renamed to {new!r}: give it a name")
        unchanged.discard(old)
    for old, new in changes.items():
        other = new_names.setdefault(new, old)
        if other != old or new in unchanged:
            by = f"it is given to '{show(other)}' too" if other != old else "another one has it"
            raise InputError(
                f"{kind} '{show(old)}' cannot be renamed to '{show(new)}': {by}; names are unique"
            )
    return {old: new for old, new in changes.items() if old != new}


# ---- going over records


def rebuilt(record: Any, change: Callable[[Any], Any]) -> Any:
    """The record with ``change`` applied to every record in it and last to itself.

    What ``change`` gives back unchanged stays the same object, and so does what holds only that.
    A None from it leaves the record out of the tuple that it is in.
    """
    changes: dict[str, Any] = {}
    for name in record_fields(type(record)):
        value = getattr(record, name)
        if value:
            new = _items(value, change) if isinstance(value, tuple) else _one(value, change)
            if new is not value:
                changes[name] = new
    if changes:
        record = replace(record, **changes)
    return change(record)


def _one(value: Any, change: Callable[[Any], Any]) -> Any:
    return rebuilt(value, change) if is_dataclass(value) else value


def _items(values: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    new = [_one(value, change) for value in values]
    if all(a is b for a, b in zip(new, values, strict=True)):
        return values
    return tuple(value for value in new if value is not None)


def every(record: Any) -> Iterator[Any]:
    """The record and every one in it, the outer ones first."""
    waiting = [record]
    while waiting:
        record = waiting.pop()
        yield record
        inside: list[Any] = []
        for name in record_fields(type(record)):
            value = getattr(record, name)
            if value:
                inside += value if isinstance(value, tuple) else (value,)
        waiting += [one for one in reversed(inside) if is_dataclass(one)]


# ---- names of mesh and texture files

_WHOLE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|[/\\~$]")  # a scheme, a drive, an absolute path


def renamed_meshes(robot: Robot, rename: Callable[[str], str]) -> Robot:
    """The robot with ``rename`` applied to every name of a mesh and of a texture.

    Empty names are left as they are.
    """

    def change(record: Any) -> Any:
        if isinstance(record, Mesh) and record.filename:
            name = rename(record.filename)
            return record if name == record.filename else replace(record, filename=name)
        if isinstance(record, Material) and record.texture:
            name = rename(record.texture)
            return record if name == record.texture else replace(record, texture=name)
        return record

    renamed: Robot = rebuilt(robot, change)
    return renamed


def is_relative(name: str) -> bool:
    """Whether a name is relative to its description: no scheme, no drive, no absolute path."""
    return bool(name) and _WHOLE.match(name) is None


def name_from(name: str, old: str, new: str | None) -> str:
    """A relative name in the description ``old``, as one that means the same file in ``new``.

    Both are files of descriptions; with None for ``new``, and where the two have no folder in
    common, the name becomes absolute. Names that are not relative stay, and so do all names
    where both files lie in one folder.
    """
    if not is_relative(name):
        return name
    old_folder = os.path.dirname(os.path.abspath(old))
    place = os.path.join(old_folder, name.replace("\\", "/"))
    if new is None:
        return _slashes(os.path.normpath(place))
    new_folder = os.path.dirname(os.path.abspath(new))
    if old_folder == new_folder:
        return name
    try:
        return _slashes(os.path.relpath(place, new_folder))
    except ValueError:  # on another drive
        return _slashes(os.path.normpath(place))


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")


# ---- the outcome


def outcome(robot: Robot, findings: Findings | None = None) -> Document:
    """The document of an edited robot, with the findings of the edit among its own.

    Raises: DescriptionError when no unique finite tree follows from it.
    """
    document = checked(robot, file=robot.file)
    own = findings.sorted() if findings is not None else ()
    if not own:
        return document
    problems = sorted((*document.problems, *own), key=lambda problem: problem.line)
    return replace(document, problems=tuple(problems))
