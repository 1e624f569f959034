"""Branches of a tree by themselves or taken away, and one robot hung on another."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import listed, show
from linkwork.formats.urdf.edit.names import References
from linkwork.formats.urdf.edit.records import (
    below,
    every,
    joint_names,
    known,
    link_names,
    name_from,
    outcome,
    rebuilt,
    renamed_meshes,
    robot_of,
    root_of,
)
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.materials import (
    appearance,
    appearances,
    material_names,
    with_materials_of,
)
from linkwork.formats.urdf.records import (
    Comment,
    Document,
    ExtraAttribute,
    ExtraElement,
    Joint,
    Robot,
    Transmission,
)

# ---- branches

Followers: TypeAlias = Literal["refuse", "free"]


def subtree(
    document: Document, link: str, name: str | None = None, *, mimic: Followers = "refuse"
) -> Document:
    """The link and all below it as a robot of its own, whose root is the link.

    ``name`` is the new robot's; without it the old one stays. Transmissions of joints that are
    gone go too, and so do ``<gazebo>``, ``<sensor>`` and joints of ``<ros2_control>`` that belong
    to what is gone; unknown elements that still name it give findings of code ``name-left``.
    A joint that follows one which is gone is refused, or with ``mimic="free"`` moves by itself.
    Of the comments between links and joints those stay that stand right before what stays.

    Raises: UnknownNameError; InputError for followers without a leader, or an empty name.
    """
    robot = robot_of(document)
    known("link", link, link_names(robot))
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise InputError(f"the robot cannot be called {name!r}: give it a name")
    part, findings = _part(robot, below(robot, link), mimic)

    def places(of: Robot) -> set[int | None]:
        records = (*of.links, *of.joints, *of.transmissions, *of.materials, *of.extra)
        return {_place(record) for record in records}

    gone = places(robot) - places(part) - {None}
    kept: list[Comment] = []
    for comment in reversed(robot.comments):
        place = comment.position
        if comment.within and place is not None and place + 1 in gone:
            gone.add(place)  # with one comment goes the one before it
        else:
            kept.append(comment)
    part = replace(part, comments=tuple(kept[::-1]), name=robot.name if name is None else name)
    return outcome(part, findings)


def remove(
    document: Document,
    link: str | None = None,
    *,
    joint: str | None = None,
    mimic: Followers = "refuse",
) -> Document:
    """The description without a link and all below it, or without a joint and all below it.

    What belongs to them goes as in `subtree`; comments stay.

    Raises: UnknownNameError; InputError for the root, for followers without a leader, and unless
    one of ``link`` and ``joint`` is given.
    """
    robot = robot_of(document)
    if (link is None) == (joint is None):
        raise InputError("say what to remove: a link, or joint=... with the name of a joint")
    if joint is not None:
        known("joint", joint, joint_names(robot))
        link = next(one.child for one in robot.joints if one.name == joint)
    link, names = link or "", link_names(robot)
    known("link", link, names)
    if link == root_of(robot):
        raise InputError(
            f"link '{show(link or '')}' is the root: nothing would be left of the robot"
        )
    gone = below(robot, link or "")
    return outcome(*_part(robot, {name for name in names if name not in gone}, mimic, rest=True))


def cut(document: Document, link: str, *, mimic: Followers = "refuse") -> tuple[Document, Document]:
    """The description without a branch, and the branch: what `remove` and `subtree` give.

    The joint that the link hung on is in neither.

    Raises: as `remove`.
    """
    return remove(document, link, mimic=mimic), subtree(document, link, mimic=mimic)


def _part(
    robot: Robot, links: Collection[str], mimic: Followers, *, rest: bool = False
) -> tuple[Robot, Findings]:
    """The robot with only these links, and findings on it."""
    if mimic not in ("refuse", "free"):
        raise InputError(f"mimic is 'refuse' or 'free', not {mimic!r}")
    joints = [j for j in robot.joints if j.parent in links and j.child in links]
    stay = {joint.name for joint in joints}
    gone = {joint.name for joint in robot.joints if joint.name not in stay}
    # a fixed joint's mimic has no effect
    left = [j.name for j in joints if j.mimic and j.type != "fixed" and j.mimic.joint in gone]
    if left and mimic != "free":
        hint = 'mimic="free" lets them move by themselves'
        raise InputError(f"these joints follow joints that are gone: {listed(left)}; {hint}")
    freed, whole = set(left), rest or not gone

    def belongs(transmission: Transmission) -> bool:
        """None of its joints is gone, and in a branch one is there."""
        names = [joint.name for joint in transmission.joints]
        return not any(n in gone for n in names) and (whole or any(n in stay for n in names))

    findings = Findings(robot.file)
    references = References(
        {link.name: link.name if link.name in links else None for link in robot.links},
        {joint.name: joint.name if joint.name in stay else None for joint in robot.joints},
        findings,
    )
    part = replace(
        robot,
        links=tuple(link for link in robot.links if link.name in links),
        joints=tuple(replace(j, mimic=None) if j.name in freed else j for j in joints),
        transmissions=tuple(filter(belongs, robot.transmissions)),
    )
    part = rebuilt(part, lambda r: references.follow(r) if isinstance(r, ExtraElement) else r)
    return with_materials_of(robot, part), findings


# ---- one robot of two


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
    known("link", joint.parent, link_names(robot))
    known("link", joint.child, link_names(guest))
    if joint.child != (root := root_of(guest)):
        raise InputError(
            f"the joint ends at link '{show(joint.child)}', but the root of the other robot is "
            f"'{show(root)}'; end there, or reroot the other robot first"
        )
    _refuse("links", robot.links, guest.links)
    _refuse("joints", (*robot.joints, joint), guest.joints)
    _refuse("joints", robot.joints, (joint,))
    _refuse("transmissions", robot.transmissions, guest.transmissions)
    if guest.file is not None:
        old, new = guest.file, robot.file
        guest = renamed_meshes(guest, lambda name: name_from(name, old, new))
    # a name must not come to mean another look, nor a look where there was none
    ours, theirs, taken = appearances(robot), appearances(guest), material_names(robot)
    unlike = [n for n in material_names(guest) if n in taken and ours.get(n) != theirs.get(n)]
    if unlike:
        raise InputError(
            f"materials with one name that look different: {listed(unlike)}; "
            "prefix one robot, or rename them"
        )
    # a definition that is there already is not written again
    have = {(m.name, appearance(m), m.extra) for m in robot.materials if m.name}

    def is_behind(comment: Comment) -> bool:
        return not comment.within and (comment.position or 0) > (robot.position or 0)

    before = tuple(comment for comment in robot.comments if not is_behind(comment))
    behind = tuple(filter(is_behind, robot.comments))
    end = _end(robot)
    guest = _placed(guest, end + 1)
    return outcome(
        replace(
            robot,
            links=robot.links + guest.links,
            joints=(*robot.joints, replace(joint, position=end), *guest.joints),
            transmissions=robot.transmissions + guest.transmissions,
            materials=(
                *robot.materials,
                *(m for m in guest.materials if (m.name, appearance(m), m.extra) not in have),
            ),
            extra=robot.extra + tuple(_new_extra(robot, guest)),
            comments=(*before, *guest.comments, *behind),
        )
    )


def _refuse(kind: str, ours: Iterable[Any], theirs: Iterable[Any]) -> None:
    taken = {record.name for record in ours}
    both = [record.name for record in theirs if record.name and record.name in taken]
    if both:
        raise InputError(f"{kind} with one name: {listed(both)}; prefix one robot, or rename them")


def _new_extra(robot: Robot, guest: Robot) -> Iterable[Any]:
    """The guest's further parts, without attributes that are there already.

    Raises: InputError for a name space prefix that means another one and is used.
    """
    ours = {e.name: e.value for e in robot.extra if isinstance(e, ExtraAttribute)}
    for extra in guest.extra:
        if not isinstance(extra, ExtraAttribute) or extra.name not in ours:
            yield extra
            continue
        space = extra.name.removeprefix("xmlns:")
        mark = space + ":"
        is_used = any(
            mark in r.xml if isinstance(r, ExtraElement) else r.name.startswith(mark)
            for r in every(guest)
            if isinstance(r, (ExtraElement, ExtraAttribute))
        )
        if space != extra.name and ours[extra.name] != extra.value and is_used:
            raise InputError(
                f"the name space prefix '{show(space)}' is '{show(ours[extra.name])}' in the one "
                f"robot and '{show(extra.value)}' in the other; change it in one of the files"
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
