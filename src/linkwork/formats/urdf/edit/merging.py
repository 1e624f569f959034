"""One robot made of two, the second one hung on the first by a joint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.edit import looks
from linkwork.formats.urdf.edit.mesh_names import name_from, renamed_meshes
from linkwork.formats.urdf.edit.outcome import outcome
from linkwork.formats.urdf.edit.tree import known, link_names, listed, robot_of, root_of
from linkwork.formats.urdf.edit.walk import every, rebuilt
from linkwork.formats.urdf.records import (
    Comment,
    Document,
    ExtraAttribute,
    ExtraElement,
    Joint,
    Material,
    Robot,
)


def merge(document: Document, other: Document, joint: Joint) -> Document:
    """Both robots as one: ``joint`` goes from a link of the first to the root of the other.

    The result has the name and file of the first. Relative mesh names of the other are changed to
    mean the same files from there. Materials of one name that look alike are shared. What comes
    from the other stands last, in its own order and with its comments, and knows no lines: they
    would be those of another file.

    Raises: UnknownNameError for ends of the joint that do not exist; InputError for names that
    both robots have (see `prefix`), and for a joint that does not end at the other's root.
    """
    robot, guest = robot_of(document), robot_of(other)
    if not isinstance(joint, Joint):
        raise InputError(f"the joint is a records.Joint, not {type(joint).__name__}")
    _check_ends(robot, guest, joint)
    _refuse_clashes(robot, guest, joint)
    if guest.file is not None:
        old, new = guest.file, robot.file
        guest = renamed_meshes(guest, lambda name: name_from(name, old, new))
    _refuse_other_looks(robot, guest)
    end = _end(robot)
    guest = _placed(guest, end + 1)
    return outcome(
        replace(
            robot,
            links=robot.links + guest.links,
            joints=(*robot.joints, replace(joint, position=end), *guest.joints),
            transmissions=robot.transmissions + guest.transmissions,
            materials=robot.materials + tuple(_new_materials(robot, guest)),
            extra=robot.extra + tuple(_new_extra(robot, guest)),
            comments=_comments(robot, guest),
        )
    )


def _check_ends(robot: Robot, guest: Robot, joint: Joint) -> None:
    known("link", joint.parent, link_names(robot))
    known("link", joint.child, link_names(guest))
    root = root_of(guest)
    if joint.child != root:
        raise InputError(
            f"the joint ends at link '{show(joint.child)}', but the root of the other robot is "
            f"'{show(root)}'; end there, or reroot the other robot first"
        )


def _refuse_clashes(robot: Robot, guest: Robot, joint: Joint) -> None:
    _refuse("links", robot.links, guest.links)
    _refuse("joints", (*robot.joints, joint), guest.joints)
    _refuse("joints", robot.joints, (joint,))
    _refuse("transmissions", robot.transmissions, guest.transmissions)


def _refuse(kind: str, ours: Iterable[Any], theirs: Iterable[Any]) -> None:
    taken = {record.name for record in ours}
    both = [record.name for record in theirs if record.name and record.name in taken]
    if both:
        raise InputError(f"{kind} with one name: {listed(both)}; prefix one robot, or rename them")


def _refuse_other_looks(robot: Robot, guest: Robot) -> None:
    """A name must not come to mean another look, nor a look where there was none."""
    ours, theirs = looks.looks(robot), looks.looks(guest)
    taken = looks.names(robot)
    unlike = [n for n in looks.names(guest) if n in taken and ours.get(n) != theirs.get(n)]
    if unlike:
        raise InputError(
            f"materials with one name that look different: {listed(unlike)}; "
            "prefix one robot, or rename them"
        )


def _new_materials(robot: Robot, guest: Robot) -> Iterable[Material]:
    """The guest's own materials; a definition that is there already is not written again."""
    have = {(m.name, looks.look_of(m), m.extra) for m in robot.materials if m.name}
    return (m for m in guest.materials if (m.name, looks.look_of(m), m.extra) not in have)


def _new_extra(robot: Robot, guest: Robot) -> Iterable[Any]:
    """What the guest has besides, without attributes that are there already.

    Raises: InputError for a name space prefix that means another one and is used.
    """
    ours = {e.name: e.value for e in robot.extra if isinstance(e, ExtraAttribute)}
    for extra in guest.extra:
        if not isinstance(extra, ExtraAttribute) or extra.name not in ours:
            yield extra
            continue
        space = extra.name.removeprefix("xmlns:")
        if space != extra.name and ours[extra.name] != extra.value and _uses(guest, space):
            raise InputError(
                f"the name space prefix '{show(space)}' is '{show(ours[extra.name])}' in the one "
                f"robot and '{show(extra.value)}' in the other; change it in one of the files"
            )


def _comments(robot: Robot, guest: Robot) -> tuple[Comment, ...]:
    """Both robots' comments in the order of writing: those behind the first come last."""
    own = robot.position or 0

    def is_behind(comment: Comment) -> bool:
        return not comment.within and (comment.position or 0) > own

    ours = tuple(comment for comment in robot.comments if not is_behind(comment))
    return (*ours, *guest.comments, *filter(is_behind, robot.comments))


def _uses(robot: Robot, space: str) -> bool:
    mark = space + ":"
    return any(
        (isinstance(r, ExtraElement) and mark in r.xml)
        or (isinstance(r, ExtraAttribute) and r.name.startswith(mark))
        for r in every(robot)
    )


def _placed(guest: Robot, start: int) -> Robot:
    """The guest with its contents from this place on, and with no lines.

    Comments around it come to stand in the robot, before and behind what it holds.
    """

    def without_line(record: Any) -> Any:
        return replace(record, line=0) if getattr(record, "line", 0) else record

    guest = rebuilt(guest, without_line)
    around = [comment for comment in guest.comments if not comment.within]
    inside = [comment for comment in guest.comments if comment.within]
    own = guest.position or 0
    before = [comment for comment in around if (_place(comment) or 0) < own]
    after = around[len(before) :]
    first = start + len(before)
    behind = first + _end(guest)
    before = [replace(c, within="robot", position=start + k) for k, c in enumerate(before)]
    after = [replace(c, within="robot", position=behind + k) for k, c in enumerate(after)]
    return replace(
        guest,
        links=_moved(guest.links, first),
        joints=_moved(guest.joints, first),
        transmissions=_moved(guest.transmissions, first),
        materials=_moved(guest.materials, first),
        extra=_moved(guest.extra, first),
        comments=(*before, *_moved(inside, first), *after),
    )


def _moved(records: Iterable[Any], by: int) -> tuple[Any, ...]:
    places = ((record, _place(record)) for record in records)
    return tuple(r if at is None else replace(r, position=at + by) for r, at in places)


def _place(record: Any) -> int | None:
    return getattr(record, "position", None)


def _end(robot: Robot) -> int:
    """The first place behind everything that a robot holds."""
    comments = [comment for comment in robot.comments if comment.within]
    kinds = (robot.links, robot.joints, robot.transmissions, robot.materials, robot.extra, comments)
    places = (_place(record) for records in kinds for record in records)
    return 1 + max((place for place in places if place is not None), default=-1)
