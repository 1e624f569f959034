"""Joints of a URDF that the file beside it says are others: balls, universal joints, fixed ones.

A ball becomes a spherical joint. A universal joint becomes two hinges one after the other, through
one point, with a link without mass between. They are free of limits, as the joint that they stand
for moved about another axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from linkwork.errors import DescriptionError, Finding, UnknownNameError
from linkwork.formats.loops import JointRecord, LoopsRecord
from linkwork.formats.urdf.records import ZERO, Document, Joint, Link, Robot
from linkwork.formats.urdf.validate import checked

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Loops
other-joint | note | A joint is another one than the URDF says. | Nothing to do.
"""


_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_WORDS = {0: "fixed", 2: "a universal joint: 2 hinges", 3: "a spherical joint"}


def with_joints(document: Document, record: LoopsRecord) -> tuple[Document, LoopsRecord]:
    """The description with the joints that a file beside it says, and what else that file says.

    A frame that was a replaced joint's is then that of its last hinge, which is the same.

    Raises: DescriptionError for joints that do not exist, and where the result is none.
    """
    if not record.joints:
        return document, record
    robot = document.robot
    others = {each.joint: each for each in record.joints}
    _check(others, robot, record.file)
    names = {link.name for link in robot.links} | {joint.name for joint in robot.joints}
    last: dict[str, str] = {}
    joints: list[Joint] = []
    links: list[Link] = list(robot.links)
    for joint in robot.joints:
        given = others.get(joint.name)
        if given is None:
            joints.append(joint)
            continue
        hinges, between = _hinges(joint, given.axes, names)
        last[joint.name] = hinges[-1].name
        joints += hinges
        links += between
    made = checked(replace(robot, links=tuple(links), joints=tuple(joints)), file=robot.file)
    notes = [
        Finding("note", "other-joint", f"it is {_WORDS[len(each.axes)]}", record.file, each.line,
                "joint_name", each.joint)
        for each in record.joints
    ]  # fmt: skip
    loops = [
        replace(
            loop,
            frame_a=last.get(loop.frame_a, loop.frame_a),
            frame_b=last.get(loop.frame_b, loop.frame_b),
        )
        for loop in record.loops
    ]
    found = Document(made.robot, (*made.problems, *notes))
    return found, replace(record, loops=tuple(loops), joints=())


def _check(others: Mapping[str, JointRecord], robot: Robot, file: str) -> None:
    known = [joint.name for joint in robot.joints]
    problems = [
        Finding("error", "loops", str(UnknownNameError("joint", name, known)), file, each.line,
                "joint_name")
        for name, each in others.items()
        if name not in known
    ]  # fmt: skip
    if problems:
        raise DescriptionError(problems)


def _hinges(joint: Joint, axes: str, taken: set[str]) -> tuple[Sequence[Joint], Sequence[Link]]:
    """The joints that stand for one, and the links between them."""
    bare = replace(
        joint, limit=None, dynamics=None, mimic=None, safety=None, calibration=None, layout=()
    )
    if len(axes) in (0, 3):
        return [replace(bare, type="spherical" if axes else "fixed")], []
    hinges: list[Joint] = []
    links: list[Link] = []
    for k, axis in enumerate(axes):
        first, final = k == 0, k == len(axes) - 1
        child = joint.child if final else _free(f"{joint.name}_{axis}_link", taken)
        made = replace(
            bare,
            name=_free(f"{joint.name}_{axis}", taken),
            type="continuous",
            axis=_AXES[axis],
            parent=joint.parent if first else links[-1].name,
            child=child,
        )
        if not first:
            made = replace(made, xyz=ZERO, rpy=ZERO, extra=(), comments=())
        hinges.append(made)
        if not final:
            links.append(Link(child))
    return hinges, links


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
