"""Parts of a tree: one branch by itself, all but a branch, or both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal, TypeAlias

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.edit.looks import with_looks_of
from linkwork.formats.urdf.edit.outcome import outcome
from linkwork.formats.urdf.edit.references import References
from linkwork.formats.urdf.edit.tree import (
    below,
    joint_names,
    known,
    link_names,
    listed,
    robot_of,
    root_of,
)
from linkwork.formats.urdf.edit.walk import rebuilt
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import (
    Comment,
    Document,
    ExtraElement,
    Joint,
    Robot,
    Transmission,
)

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
    part = _without_far_comments(robot, replace(part, name=robot.name if name is None else name))
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
    return outcome(*_rest(robot, link or "", mimic))


def cut(document: Document, link: str, *, mimic: Followers = "refuse") -> tuple[Document, Document]:
    """The description without a branch, and the branch: what `remove` and `subtree` give.

    The joint that the link hung on is in neither.

    Raises: as `remove`.
    """
    return remove(document, link, mimic=mimic), subtree(document, link, mimic=mimic)


def _rest(robot: Robot, link: str, mimic: Followers) -> tuple[Robot, Findings]:
    names = link_names(robot)
    known("link", link, names)
    if link == root_of(robot):
        raise InputError(f"link '{show(link)}' is the root: nothing would be left of the robot")
    gone = below(robot, link)
    return _part(robot, {name for name in names if name not in gone}, mimic, rest=True)


def _part(
    robot: Robot, links: Collection[str], mimic: Followers, *, rest: bool = False
) -> tuple[Robot, Findings]:
    """The robot with only these links, and findings on it."""
    if mimic not in ("refuse", "free"):
        raise InputError(f"mimic is 'refuse' or 'free', not {mimic!r}")
    joints = [j for j in robot.joints if j.parent in links and j.child in links]
    stay = {joint.name for joint in joints}
    gone = {joint.name for joint in robot.joints if joint.name not in stay}
    findings = Findings(robot.file)
    references = References(
        {link.name: link.name if link.name in links else None for link in robot.links},
        {joint.name: joint.name if joint.name in stay else None for joint in robot.joints},
        findings,
    )
    part = replace(
        robot,
        links=tuple(link for link in robot.links if link.name in links),
        joints=_with_leaders(joints, gone, mimic),
        transmissions=tuple(t for t in robot.transmissions if _belongs(t, stay, gone, rest)),
    )
    part = rebuilt(part, lambda r: references.follow(r) if isinstance(r, ExtraElement) else r)
    return with_looks_of(robot, part), findings


def _with_leaders(
    joints: list[Joint], gone: Collection[str], mimic: Followers
) -> tuple[Joint, ...]:
    """The joints; those whose leader is gone move by themselves, or are refused."""
    # a fixed joint's mimic has no effect
    followers = [j for j in joints if j.mimic is not None and j.type != "fixed"]
    left = [j.name for j in followers if j.mimic is not None and j.mimic.joint in gone]
    if left and mimic != "free":
        hint = 'mimic="free" lets them move by themselves'
        raise InputError(f"these joints follow joints that are gone: {listed(left)}; {hint}")
    freed = set(left)
    return tuple(replace(j, mimic=None) if j.name in freed else j for j in joints)


def _belongs(
    transmission: Transmission, stay: Collection[str], gone: Collection[str], rest: bool
) -> bool:
    """Whether a transmission stays: none of its joints is gone, and in a branch one is there."""
    names = [joint.name for joint in transmission.joints]
    whole = rest or not gone
    return not any(n in gone for n in names) and (whole or any(n in stay for n in names))


def _without_far_comments(robot: Robot, part: Robot) -> Robot:
    """The part without the comments that stand right before what is not in the part."""

    def places(of: Robot) -> set[int | None]:
        records = (*of.links, *of.joints, *of.transmissions, *of.materials, *of.extra)
        return {getattr(record, "position", None) for record in records}

    gone = places(robot) - places(part) - {None}
    kept: list[Comment] = []
    for comment in reversed(robot.comments):
        place = comment.position
        if comment.within and place is not None and place + 1 in gone:
            gone.add(place)  # with one comment goes the one before it
        else:
            kept.append(comment)
    return replace(part, comments=tuple(kept[::-1]))
