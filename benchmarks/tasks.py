"""The robots that are measured: which file, which joints are locked, which chain is kept.

Every side reads the *same* prepared file: locked joints are fixed at zero, an arm is cut down to
the links between its base and its tip, and visual and collision elements are left out, and so are
<mimic> elements of fixed joints, which say nothing and are refused by some sides. So no side
has to carry frames of a robot that another side was allowed to drop. The standard library's XML
parser does this, not the parser of any side.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DYNAMICS = {"inverse_dynamics": 3, "mass_matrix": 1, "forward_dynamics": 3}
"""Operations of dynamics, and how many vectors they take: q, v, and accelerations or forces."""
MOVES = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Robot:
    """One robot: its file in example-robot-data, what is locked, and the frame asked for."""

    name: str
    file: str
    base: str
    tip: str
    joints: int
    locked: tuple[str, ...] = ()
    whole: bool = False  # keep every link, not only those between base and tip
    more: tuple[str, ...] = ()  # further tips whose chains are kept
    spread: float = 1.0  # random configurations: share of each range, about its middle


ROBOTS = {
    robot.name: robot
    for robot in (
        Robot(
            "panda",
            "panda_description/urdf/panda.urdf",
            "panda_link0",
            "panda_link8",
            7,
            locked=("panda_finger_joint1", "panda_finger_joint2"),
            whole=True,
        ),
        Robot("ur5", "ur_description/urdf/ur5_robot.urdf", "base_link", "tool0", 6),
        Robot(
            "pr2_arm", "pr2_description/urdf/pr2.urdf", "base_footprint", "r_gripper_tool_frame", 8
        ),
        Robot(
            "talos_arm",
            "talos_data/robots/talos_reduced.urdf",
            "base_link",
            "gripper_left_base_link",
            9,
        ),
        Robot(
            "g1_arm", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "pelvis", "left_rubber_hand", 10
        ),
        Robot(
            "talos",
            "talos_data/robots/talos_reduced.urdf",
            "base_link",
            "gripper_left_base_link",
            32,
            whole=True,
        ),
    )
}
ARMS = ("panda", "ur5", "pr2_arm", "talos_arm", "g1_arm")


@dataclass(frozen=True)
class Joint:
    """A joint of the prepared file that moves, with its limits (infinite where there are none)."""

    name: str
    type: str
    lower: float
    upper: float


@dataclass(frozen=True)
class Task:
    """A robot made ready: the prepared file and what it contains."""

    robot: Robot
    original: Path
    prepared: Path
    joints: tuple[Joint, ...]
    links: tuple[str, ...]

    @property
    def joint_names(self) -> list[str]:
        """The joints in the order in which the driver writes configurations."""
        return [joint.name for joint in self.joints]


def prepare(robot: Robot, data: Path, folder: Path) -> Task:
    """Write the prepared file of a robot into a folder.

    Raises: FileNotFoundError, ValueError where the file does not fit the description of the robot.
    """
    original = data / robot.file
    if not original.is_file():
        raise FileNotFoundError(
            f"{original}: not there; pass --data FOLDER (the one that has {robot.file})"
        )
    root = ET.parse(original).getroot()
    keep: set[tuple[str, str]] | None = None
    if not robot.whole:
        keep = set()
        for tip in (robot.tip, *robot.more):
            keep |= _path(root, robot.base, tip)
    if robot.whole and robot.base not in _roots(root):
        raise ValueError(f"{robot.name}: '{robot.base}' is not the root of {original}")
    _cut(root, keep)
    for joint in root.findall("joint"):
        if joint.get("name") in robot.locked:
            _fix(joint)
        elif joint.get("type") == "fixed":
            _drop(joint, ("mimic",))
    joints = tuple(_movable(root))
    if len(joints) != robot.joints:
        found = ", ".join(joint.name for joint in joints)
        raise ValueError(
            f"{robot.name}: expected {robot.joints} joints, found {len(joints)}: {found}"
        )
    prepared = folder / f"{robot.name}.urdf"
    ET.ElementTree(root).write(prepared, encoding="utf-8", xml_declaration=True)
    links = tuple(str(link.get("name")) for link in root.findall("link"))
    return Task(robot, original, prepared, joints, links)


def _cut(root: ET.Element, keep: set[tuple[str, str]] | None) -> None:
    """Leave the links and joints of these names (None: all), without shapes and extras."""
    for child in list(root):
        if child.tag not in ("link", "joint") or (
            keep and (child.tag, child.get("name")) not in keep
        ):
            root.remove(child)
    for link in root.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)


def _roots(root: ET.Element) -> list[str]:
    children = {_end(joint, "child") for joint in root.findall("joint")}
    return [
        n for n in (str(link.get("name")) for link in root.findall("link")) if n not in children
    ]


def _end(joint: ET.Element, tag: str) -> str:
    element = joint.find(tag)
    if element is None:
        raise ValueError(f"joint '{joint.get('name')}' has no <{tag}>")
    return str(element.get("link"))


def _path(root: ET.Element, base: str, tip: str) -> set[tuple[str, str]]:
    """Tags and names of the links and joints from base to tip; the base must be an ancestor."""
    above = {_end(joint, "child"): joint for joint in root.findall("joint")}
    names, link = {("link", tip)}, tip
    while link != base:
        if link not in above:
            raise ValueError(f"'{base}' is not an ancestor of '{tip}'")
        joint = above[link]
        link = _end(joint, "parent")
        names |= {("joint", str(joint.get("name"))), ("link", link)}
    return names


def _fix(joint: ET.Element) -> None:
    joint.set("type", "fixed")
    _drop(joint, ("axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"))


def _drop(joint: ET.Element, tags: Iterable[str]) -> None:
    for tag in tags:
        for element in joint.findall(tag):
            joint.remove(element)


def _movable(root: ET.Element) -> Iterable[Joint]:
    for joint in root.findall("joint"):
        kind = str(joint.get("type"))
        if kind == "fixed":
            continue
        name = str(joint.get("name"))
        if kind not in MOVES or joint.find("mimic") is not None:
            raise ValueError(f"joint '{name}' ({kind}) must be locked: the cases know {MOVES} only")
        limit = joint.find("limit")
        lower, upper = -math.inf, math.inf
        if kind != "continuous" and limit is not None:
            lower = float(limit.get("lower", "0"))
            upper = float(limit.get("upper", "0"))
        yield Joint(name, kind, lower, upper)
