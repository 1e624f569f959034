"""Every kind of task of inverse kinematics in its variants, with what is true of each.

`tests/contracts/test_tasks.py` runs the same checks over all of them. ``left`` says how far a task
is from done, by formulas that are not the library's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import ik_measures as measures
import linkwork as lw
from ik_measures import shifted, turned
from linkwork.mechanism.model import JointType
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.direction import Direction
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.manipulability import Manipulability
from linkwork.solve.tasks.on_line import OnLine
from linkwork.solve.tasks.on_plane import OnPlane
from linkwork.solve.tasks.orientation import Orientation
from linkwork.solve.tasks.pointing import Pointing
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.solve.tasks.posture import Posture
from linkwork.solve.tasks.relative_pose import RelativePose
from robots import every_joint_urdf


@dataclass(frozen=True)
class Setup:
    """A robot, and two frames of it."""

    label: str
    robot: Any
    frame: str
    other: str

    def pose(self, q) -> np.ndarray:
        """Of the frame in the world."""
        return self.robot.fk(q, self.frame)

    def relative(self, q) -> np.ndarray:
        """Of the frame in the other one."""
        return measures.back(self.robot.fk(q, self.other)) @ self.robot.fk(q, self.frame)


_SETUPS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "panda": ("panda", {}, "tool0", "link3"),
    "ur5e": ("ur5e", {}, "tool0", "forearm_link"),
    "scara": ("scara", {}, "tool0", "inner_arm"),
    "mobile_arm": ("mobile_arm", {}, "tool0", "front_left_wheel"),
    "two_arm_torso": ("two_arm_torso", {}, "left_tool0", "right_tool0"),
    "humanoid": ("humanoid", {"base": "floating"}, "left_hand", "right_foot"),
    # coupled joints, slides and skew axes; then a planar and a floating joint
    "every_joint": (every_joint_urdf(), {}, "finger_c", "lens"),
    "every_joint_ball": (every_joint_urdf(), {}, "hand", "ball"),
}
SETUPS = tuple(_SETUPS)


@cache
def setup(label: str) -> Setup:
    """The robot and frames of this name."""
    source, options, frame, other = _SETUPS[label]
    return Setup(label, lw.load(source, **options), frame, other)


Target = Any
None_ = Callable[..., list[Target]]


def _nothing(*_: Any) -> list[Target]:
    return []


@dataclass(frozen=True)
class Case:
    """A task without a target, and what holds for it.

    ``present(s, q)`` is the target that q does; ``left(s, q, target)`` the error of each group;
    ``alike(s, target, g)`` are targets that q does as well; ``antipodes(s, target)`` are some that
    it does not, though nothing pulls it there. ``exact``: the columns are the derivative
    everywhere. ``kink``: at zero error there is no derivative (inside of any slack).
    """

    label: str
    task: Callable[[Setup], Task]
    present: Callable[[Setup, Any], Target]
    left: Callable[[Setup, Any, Target], Sequence[Any]]
    alike: Callable[..., list[Target]] = _nothing
    antipodes: Callable[..., list[Target]] = _nothing
    exact: bool = False
    kink: bool = False
    fits: Callable[[Setup], bool] = lambda s: True


def _free(g: np.random.Generator, axes: str) -> tuple[np.ndarray, np.ndarray]:
    """A random shift along the axes that are not named, and a turn about the free one."""
    shift = np.array([0.0 if a in axes else g.normal() for a in "xyz"])
    return shifted(shift), np.eye(4)


def _free_turn(g: np.random.Generator, axes: str) -> np.ndarray:
    free = [k for k in range(3) if "xyz"[k] not in axes]
    if len(free) == 1:
        return turned(free[0], g.uniform(-3, 3))
    if len(free) == 2:  # a turn whose axis lies in the plane of the two
        a = g.uniform(-np.pi, np.pi)
        tilt = turned(next(k for k in range(3) if k not in free), a)
        return tilt @ turned(free[0], g.uniform(-3, 3)) @ tilt.T
    return np.eye(4)


def _pose_case(cls: Any, label: str, **how: Any) -> Case:
    """A case of `Pose`, or of `RelativePose`, with some axes."""
    relative = cls is RelativePose
    where, turns = how.get("position", "xyz"), how.get("rotation", "xyz")
    mirror, exact = how.get("mirror"), bool(np.any(how.get("slack", 0.0)))
    of = how.get("axes_of", "given")
    tool = of in ("tool", "target")

    def now(s: Setup, q: Any) -> np.ndarray:
        return s.relative(q) if relative else s.pose(q)

    def left(s: Setup, q: Any, T: Any) -> list[Any]:
        found = []
        if where:
            found.append(measures.position_left(now(s, q), T, where, of))
        if turns:
            found.append(measures.rotation_left(now(s, q), T, turns, of, mirror, exact=exact))
        return found

    def alike(s: Setup, T: Any, g: np.random.Generator) -> list[Any]:
        shift = _free(g, where)[0][:3, 3]
        turn = _free_turn(g, turns)
        found = np.array(T)
        found[:3, 3] += T[:3, :3] @ shift if tool else shift
        found[:3, :3] = (T @ turn if tool else turn @ T)[:3, :3]
        moved = [T, found] if of != "target" or len(turns) == 3 or len(where) == 3 else [T]
        flip = [] if mirror is None else [each @ turned("xyz".index(mirror), np.pi) for each in moved]
        return moved + flip

    def antipodes(s: Setup, T: Any) -> list[Any]:
        if len(turns) < 2 or exact:
            return []
        about = next(k for k in range(3) if "xyz"[k] in turns and "xyz"[k] != mirror)
        flip = turned(about, np.pi)
        turn = T @ flip if tool or len(turns) == 3 else flip @ T
        turn[:3, 3] = T[:3, 3]
        away = turn if mirror is None or "xyz".index(mirror) != about else None
        return [] if away is None else [away]

    def task(s: Setup) -> Task:
        return cls(s.frame, s.other, **how) if relative else cls(s.frame, **how)

    plain = turns == "" or exact or len(turns) == 1
    return Case(label, task, now, left, alike, antipodes, exact=plain)
