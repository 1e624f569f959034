"""The structure of a description: its parts, whether it holds together, its tree as text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import Finding, MissingFileError
from linkwork.faces.skrobot.model.joint import Joint
from linkwork.faces.skrobot.model.robot_model import RobotModel
from linkwork.formats.urdf.read import examine

Source = str | bytes | os.PathLike[str] | RobotModel

MOVABLE_JOINT_TYPES = ("revolute", "continuous", "prismatic", "planar", "floating")

_LEAVES = {
    "tool": ("tool", "tcp", "grasp", "eef", "end_effector"),
    "sensor": (
        *("optical", "camera", "stereo", "laser", "imu", "cam_", "accelerometer", "sensor"),
        *("depth", "rgb", "lidar", "sonar", "gps"),
    ),
    "wheel": ("wheel", "caster", "castor"),
    "gripper": ("gripper", "finger", "palm", "thumb", "hand", "knuckle"),
}
"""The use of a link at an end, by the words in its name."""
_ROS_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_/]*")


@dataclass
class JointInfo:
    """A joint by its names, its type, axis (3,) and limits, None where these are not known."""

    name: str
    joint_type: str
    parent: str
    child: str
    axis: tuple[float, ...] | None = None
    velocity: float | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def is_movable(self) -> bool:
        """Whether joints of its type move."""
        return self.joint_type in MOVABLE_JOINT_TYPES


@dataclass
class ValidationResult:
    """The findings of `validate_urdf_structure`.

    ``summary`` has "links_count", "joints_count", "base_links", "end_links" and
    "connected_components".
    """

    is_valid: bool
    errors: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    summary: dict[str, Any] = field(default_factory=dict[str, Any])

    def format_summary(self) -> str:
        """The summary as lines of text."""

        def listed(names: Sequence[str]) -> str:
            return f"{len(names)} ({', '.join(names) or 'None'})"

        told = self.summary
        return "\n".join([
            "URDF Validation Summary:",
            f"  Links: {told['links_count']}",
            f"  Joints: {told['joints_count']}",
            f"  Base links: {listed(told['base_links'])}",
            f"  End links: {listed(told['end_links'])}",
            f"  Connected components: {told['connected_components']}",
        ])  # fmt: skip


@dataclass
class _Structure:
    """Links by name and the joints between them, and what was found in reading them."""

    links: list[str]
    joints: list[JointInfo]
    findings: tuple[Finding, ...] = ()

    @property
    def roots(self) -> list[str]:
        carried = {joint.child for joint in self.joints}
        return [link for link in self.links if link not in carried]

    @property
    def ends(self) -> list[str]:
        above = {joint.parent for joint in self.joints}
        return [link for link in self.links if link not in above]

    def below(self) -> dict[str, list[JointInfo]]:
        """The joints that hang on each link."""
        found: dict[str, list[JointInfo]] = {link: [] for link in self.links}
        for joint in self.joints:
            if joint.parent in found and joint.child in found:
                found[joint.parent].append(joint)
        return found

    def n_components(self) -> int:
        """The number of parts that nothing connects."""
        group = {link: link for link in self.links}

        def top(link: str) -> str:
            while group[link] != link:
                group[link] = group[group[link]]
                link = group[link]
            return link

        for joint in self.joints:
            if joint.parent in group and joint.child in group:
                group[top(joint.child)] = top(joint.parent)
        return len({top(link) for link in group})


def _structure(source: Source) -> _Structure:
    """The structure of a robot, a file or a text, as far as it can be read.

    Raises: MissingFileError (an OSError) for a file that is not there.
    """
    if isinstance(source, RobotModel):
        joints = [_of_joint(link.joint) for link in source.link_list if link.joint is not None]
        return _Structure([link.name for link in source.link_list], joints)
    given: Any = source
    if not isinstance(source, bytes):
        text = os.fspath(source)
        given = text if text.lstrip("\ufeff \t\r\n").startswith("<") else Path(text)
    examined = examine(given)
    missing = [each for each in examined.problems if each.code == "missing-file"]
    if missing or (isinstance(given, Path) and not given.is_file()):
        raise MissingFileError(missing or examined.problems)
    robot = examined.robot
    if robot is None:
        return _Structure([], [], examined.problems)
    infos = [
        JointInfo(
            joint.name, joint.type, joint.parent, joint.child, tuple(joint.axis),
            *((None,) * 3 if joint.limit is None else
              (joint.limit.velocity, joint.limit.lower, joint.limit.upper)),
        )
        for joint in robot.joints
    ]  # fmt: skip
    return _Structure([link.name for link in robot.links], infos, examined.problems)


def _of_joint(joint: Joint) -> JointInfo:
    """The fields of a robot's joint."""
    parent, child = joint.parent_link, joint.child_link
    names = (parent.name if parent else "", child.name if child else "")
    if joint.joint_dof != 1:
        return JointInfo(joint.name or "", joint.type, *names)
    limits = (float(joint.max_joint_velocity), float(joint.min_angle), float(joint.max_angle))
    return JointInfo(joint.name or "", joint.type, *names, tuple(joint.axis.tolist()), *limits)


def validate_urdf_structure(source: Source, verbose: bool = False) -> ValidationResult:
    """Whether a description holds together: a path, text, or a robot.

    Errors are what no unique tree follows from, each with its line; warnings what is doubtful, with
    names against the custom of ROS, and joints that move at no velocity. ``verbose`` prints them.

    Raises: MissingFileError (an OSError) for a file that is not there.
    """
    found = _structure(source)
    errors = [str(each) for each in found.findings if each.level == "error"]
    warnings = [str(each) for each in found.findings if each.level == "warning"]
    strange = [name for name in found.links if not _ROS_NAME.fullmatch(name)]
    if strange:
        warnings.append(f"Links violate ROS naming conventions: {', '.join(strange)}")
    still = [joint.name for joint in found.joints if joint.is_movable and joint.velocity == 0]
    if still:
        text = "Movable joints with zero velocity limit (set a positive velocity)"
        warnings.append(f"{text}: {', '.join(still)}")
    summary = {
        "links_count": len(found.links),
        "joints_count": len(found.joints),
        "base_links": found.roots,
        "end_links": found.ends,
        "connected_components": found.n_components(),
    }
    result = ValidationResult(not errors, errors, warnings, summary)
    if verbose:
        told = [result.format_summary()]
        told += [f"{what}: {each}" for what, several in (("error", errors), ("warning", warnings))
                 for each in several]  # fmt: skip
        print("\n".join(told))  # noqa: T201  it is asked to
    return result


# ---- trees as text


def print_urdf_tree(source: Source, world: bool = False) -> str:
    """The links of a description, a line for each, as text: a path, text, or a robot.

    With ``world`` each has its position in the first pose, m.

    Raises: DescriptionError with every problem, MissingFileError (an OSError).
    """
    plain = {"collapse_fixed": False, "annotate": False, "classify_leaves": False}
    return _tree(source, "URDF Link Tree Structure:", branches=False, world=world, **plain)


def kinematic_tree(
    source: Source,
    collapse_fixed: bool = True,
    annotate: bool = True,
    classify_leaves: bool = True,
    world: bool = False,
) -> str:
    """The links that move in a description, a line for each, as text: a path, text, or a robot.

    ``collapse_fixed``: what nothing moves below a link is one line. ``annotate``: types and axes of
    joints. ``classify_leaves``: what links at ends are for, by their names. Links with two or more
    children that move are marked. With ``world`` axes and positions are those in the world, in the
    first pose.

    Raises: DescriptionError with every problem, MissingFileError (an OSError).
    """
    more = "; world axes & positions @ at init pose" if world else ""
    return _tree(
        source,
        f"Kinematic Tree (movable skeleton{more}):",
        collapse_fixed=collapse_fixed,
        annotate=annotate,
        classify_leaves=classify_leaves,
        world=world,
    )


def _tree(
    source: Source,
    title: str,
    *,
    collapse_fixed: bool,
    annotate: bool,
    classify_leaves: bool,
    world: bool,
    branches: bool = True,
) -> str:
    """The tree of a description as text, with marks at links with several branches."""
    robot = source if isinstance(source, RobotModel) else RobotModel.from_urdf(source)
    found = _structure(source)
    below = found.below()
    moving = _with_motion(found, below)
    axes = {
        link.name: link.joint.world_axis
        for link in robot.link_list
        if world and link.joint is not None and link.joint.joint_dof == 1
    }
    suffix = {link.name: f" @{_shown(link.worldpos())}" for link in robot.link_list if world}

    def parts(link: str) -> list[_Branch]:
        shown: list[_Branch] = []
        fixed: list[str] = []
        for joint in below[link]:
            if collapse_fixed and not joint.is_movable and joint.child not in moving:
                fixed += _all_below(joint.child, below)
            else:
                axis = axes.get(joint.child, joint.axis)
                shown.append(_Branch(joint.child, _edge(joint, axis) if annotate else ""))
        if fixed:
            many = "s" if len(fixed) > 1 else ""
            shown.append(_Branch(None, f"(+{len(fixed)} fixed frame{many}: {', '.join(fixed)})"))
        return shown

    def text(branch: _Branch) -> str:
        link = branch.link
        if link is None:
            return branch.text
        n = sum(joint.is_movable for joint in below[link])
        branching = f"  ◆BRANCH({n})" if n > 1 and branches else ""
        use = "" if below[link] or not classify_leaves else _use(link)
        return f"{branch.text}{link}{suffix.get(link, '')}{branching}{use}"

    return "\n".join([title, *_lines(found.roots, parts, text)])


@dataclass
class _Branch:
    """A line of a tree: a link and what stands before its name, or text without a link."""

    link: str | None
    text: str


def _lines(
    roots: Sequence[str],
    parts: Callable[[str], list[_Branch]],
    text: Callable[[_Branch], str],
) -> list[str]:
    """The lines of trees."""
    lines: list[str] = []
    tops = [_Branch(root, "") for root in roots]
    waiting = [(branch, "", k == len(tops) - 1) for k, branch in enumerate(tops)][::-1]
    while waiting:
        branch, before, last = waiting.pop()
        lines.append(f"{before}{'└── ' if last else '├── '}{text(branch)}")
        if branch.link is not None:
            inner = f"{before}{'    ' if last else '│   '}"
            children = parts(branch.link)
            own = [(child, inner, k == len(children) - 1) for k, child in enumerate(children)]
            waiting += own[::-1]
    return lines


def _edge(joint: JointInfo, axis: ArrayLike | None) -> str:
    """The edge above a link: the type of its joint, and its axis."""
    without = axis is None or not joint.is_movable or joint.joint_type == "floating"
    return f"[{joint.joint_type}{'' if without else f' {_shown(axis)}'}] "


def _shown(vector: Any) -> str:
    return f"[{', '.join(f'{round(float(x), 3) + 0.0:g}' for x in np.ravel(vector))}]"


def _use(link: str) -> str:
    name = link.lower()
    for use, patterns in _LEAVES.items():
        if any(pattern in name for pattern in patterns):
            return f"  {use}"
    return ""


def _with_motion(found: _Structure, below: dict[str, list[JointInfo]]) -> set[str]:
    """The links below which something moves."""
    above = {joint.child: joint.parent for joint in found.joints}
    moving: set[str] = set()
    for link, joints in below.items():
        at: str | None = link if any(joint.is_movable for joint in joints) else None
        while at is not None and at not in moving:
            moving.add(at)
            at = above.get(at)
    return moving


def _all_below(link: str, below: dict[str, list[JointInfo]]) -> list[str]:
    """A link and all that hangs on it."""
    found: list[str] = []
    waiting = [link]
    while waiting:
        at = waiting.pop()
        found.append(at)
        waiting += [joint.child for joint in reversed(below[at])]
    return found
