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
from closed_mechanisms import with_every_kind
from ik_measures import turned
from linkwork.mechanism.model import JointType
from linkwork.ops.numpy import NUMPY
from linkwork.solve.tasks import (
    CenterOfMass,
    Closed,
    Direction,
    JointCoupling,
    Manipulability,
    OnLine,
    OnPlane,
    Orientation,
    Pointing,
    Pose,
    Position,
    Posture,
    RelativePose,
    Task,
)
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
    "every_joint_free": (every_joint_urdf(), {}, "ball", "camera"),
}
SETUPS = (*_SETUPS, "closed")


@cache
def setup(label: str) -> Setup:
    """The robot and frames of this name."""
    if label == "closed":
        return Setup(label, with_every_kind(), "left_tool0", "right_tool0")
    source, options, frame, other = _SETUPS[label]
    return Setup(label, lw.load(source, **options), frame, other)


Target = Any


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
    fits: Callable[[Setup], bool] = lambda s: s.label != "closed"


def _free_shift(g: np.random.Generator, axes: str) -> np.ndarray:
    """A random shift along the axes that are not named."""
    return np.array([0.0 if a in axes else g.normal() for a in "xyz"])


def _free_turn(g: np.random.Generator, axes: str) -> np.ndarray:
    """A random turn that leaves the components about the named axes zero."""
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
        shift = _free_shift(g, where)
        turn = _free_turn(g, turns)
        found = np.array(T)
        found[:3, 3] += T[:3, :3] @ shift if tool else shift
        found[:3, :3] = (T @ turn if tool else turn @ T)[:3, :3]
        moved = [T, found] if of != "target" or len(turns) == 3 or len(where) == 3 else [T]
        flip = (
            [] if mirror is None else [each @ turned("xyz".index(mirror), np.pi) for each in moved]
        )
        return moved + flip

    def antipodes(s: Setup, T: Any) -> list[Any]:
        if len(turns) < 2 or exact:
            return []
        about = next(k for k in range(3) if "xyz"[k] in turns and "xyz"[k] != mirror)
        if len(turns) == 2 and mirror is not None and (mirror in turns or not tool):
            return []  # the mirrored target is another one, and done or on the way there
        flip = turned(about, np.pi)
        away = T @ flip if tool or len(turns) == 3 else flip @ T
        away[:3, 3] = T[:3, 3]
        return [away]

    def task(s: Setup) -> Task:
        return cls(s.frame, s.other, **how) if relative else cls(s.frame, **how)

    plain = turns == "" or exact or len(turns) == 1
    return Case(label, task, now, left, alike, antipodes, exact=plain)


def _pose_cases(cls: Any, given: str) -> list[Case]:
    """Poses by axes, whose axes, mirrors and slack.

    The rows of a `RelativePose` are those of a `Pose`, so that every fifth of its cases is enough.
    """
    name = cls.__name__
    cases = [_pose_case(cls, name)]
    for position, rotation in (("xy", ""), ("", "xyz"), ("z", "xy"), ("xyz", "yz"), ("", "z")):
        for of in (given, "target", "tool"):
            how = {"position": position, "rotation": rotation, "axes_of": of}
            cases.append(_pose_case(cls, f"{name} {position}/{rotation} of {of}", **how))
    for rotation, mirror in (("xyz", "x"), ("xy", "z"), ("xy", "x"), ("y", "z"), ("xz", "y")):
        for of in (given, "tool"):
            how = {"rotation": rotation, "axes_of": of, "mirror": mirror}
            cases.append(_pose_case(cls, f"{name} {rotation} of {of} mirror {mirror}", **how))
    slack = (0.01, 0.02, 0.03, 0.1, 0.2, 0.3)
    for of in (given, "tool"):
        cases.append(_pose_case(cls, f"{name} slack of {of}", axes_of=of, slack=slack))
    how = {"rotation": "xy", "slack": 0.1, "mirror": "x", "axes_of": "target"}
    cases.append(_pose_case(cls, f"{name} slack and mirror", **how))
    return cases if cls is Pose else cases[:-1:5] + cases[-1:]


def _orientation_cases() -> list[Case]:
    """Those of a pose without a position, the target a rotation."""
    found = []
    for axes, of, mirror, slack in (
        ("xyz", "world", None, 0.0),
        ("xyz", "tool", "y", 0.0),
        ("xy", "tool", None, 0.0),
        ("xz", "world", None, 0.0),
        ("yz", "target", "y", 0.0),
        ("x", "world", None, 0.0),
        ("z", "tool", "x", 0.0),
        ("xyz", "tool", None, (0.1, 0.0, 0.2)),
        ("yz", "world", "z", 0.1),
    ):
        how: dict[str, Any] = {"axes_of": of, "mirror": mirror, "slack": slack}
        pose = _pose_case(Pose, "", position="", rotation=axes, **how)
        found.append(
            Case(
                f"Orientation {axes} of {of} mirror {mirror} slack {bool(np.any(slack))}",
                lambda s, axes=axes, how=how: Orientation(s.frame, axes=axes, **how),
                lambda s, q: s.pose(q)[:3, :3],
                lambda s, q, R, pose=pose: pose.left(s, q, _as_pose(R)),
                lambda s, R, g, pose=pose: [
                    T if k else T[:3, :3] for k, T in enumerate(pose.alike(s, _as_pose(R), g))
                ],
                lambda s, R, pose=pose: pose.antipodes(s, _as_pose(R)),
                exact=pose.exact,
            )
        )
    return found


def _as_pose(R: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = np.asarray(R)[:3, :3]
    return T


TIP = (0.03, -0.02, 0.1)
TILT = (1.0, -2.0, 0.5)


def _position_cases() -> list[Case]:
    found = []
    for axes, of, point in (
        ("xyz", "world", (0.0, 0.0, 0.0)),
        ("xz", "world", TIP),
        ("xyz", "tool", TIP),
        ("y", "tool", (0.0, 0.0, 0.0)),
    ):
        found.append(
            Case(
                f"Position {axes} of {of} {point}",
                lambda s, axes=axes, of=of, point=point: Position(
                    s.frame, axes=axes, axes_of=of, point=point
                ),
                lambda s, q, point=point: measures.point_of(s.pose(q), point),
                lambda s, q, p, axes=axes, of=of, point=point: [
                    measures.position_left(s.pose(q), measures.shifted(p), axes, of, point)
                ],
                lambda s, p, g, axes=axes, of=of: (
                    [p, p + _free_shift(g, axes)] if of == "world" else [p]
                ),
                exact=True,
            )
        )
    return found


def _ray_cases() -> list[Case]:
    """Axes of frames: at a point, and along a direction; with a cone too."""
    found = []
    for axis, point, slack in (
        ((0, 0, 1), (0, 0, 0), 0.0),
        (TILT, TIP, 0.0),
        ((-1, 0, 0), TIP, 0.2),
    ):
        exact = slack > 0.0
        found.append(
            Case(
                f"Pointing {axis} {point} slack {slack}",
                lambda s, axis=axis, point=point, slack=slack: Pointing(
                    s.frame, axis=axis, point=point, slack=slack
                ),
                lambda s, q, axis=axis, point=point: (
                    measures.point_of(s.pose(q), point) + 0.7 * measures.axis_of(s.pose(q), axis)
                ),
                lambda s, q, p, axis=axis, point=point: [
                    measures.angle_between(
                        measures.axis_of(s.pose(q), axis), p - measures.point_of(s.pose(q), point)
                    )
                ],
                exact=exact,
                kink=exact,
            )
        )
        found.append(
            Case(
                f"Direction {axis} slack {slack}",
                lambda s, axis=axis, slack=slack: Direction(s.frame, axis=axis, slack=slack),
                lambda s, q, axis=axis: 3.0 * measures.axis_of(s.pose(q), axis),
                lambda s, q, d, axis=axis: [
                    measures.angle_between(measures.axis_of(s.pose(q), axis), d)
                ],
                lambda s, d, g: [d, 1e-200 * d, 1e200 * d],
                lambda s, d: [-d],
                exact=exact,
                kink=exact,
            )
        )
    return found


def _line_cases() -> list[Case]:
    found = []
    for point, slack in (((0, 0, 0), 0.0), (TIP, 0.0), (TIP, 0.05)):
        for cls, left in ((OnLine, measures.from_line), (OnPlane, measures.from_plane)):
            found.append(
                Case(
                    f"{cls.__name__} {point} slack {slack}",
                    lambda s, cls=cls, point=point, slack=slack: cls(
                        s.frame, point=point, slack=slack
                    ),
                    lambda s, q, point=point: np.array(
                        [*measures.point_of(s.pose(q), point), *TILT]
                    ),
                    lambda s, q, x, point=point, left=left: [
                        left(measures.point_of(s.pose(q), point), x)
                    ],
                    _along_line if cls is OnLine else _along_plane,
                    exact=True,
                    kink=cls is OnLine and slack > 0.0,
                )
            )
    return found


def _along_line(_s: Setup, x: Any, g: np.random.Generator) -> list[Any]:
    d = x[3:]
    return [x, np.array([*(x[:3] + g.normal() * d), *d]), np.array([*x[:3], *-d])]


def _along_plane(_s: Setup, x: Any, g: np.random.Generator) -> list[Any]:
    shift = np.cross(g.normal(size=3), x[3:])
    return [x, np.array([*(x[:3] + shift), *x[3:]]), np.array([*x[:3], *-x[3:]])]


def _mass_cases() -> list[Case]:
    return [
        Case(
            f"CenterOfMass {axes}",
            lambda s, axes=axes: CenterOfMass(axes=axes),
            lambda s, q: measures.center_of_mass(s.robot, q),
            lambda s, q, p, axes=axes: [
                np.linalg.norm(
                    (p - measures.center_of_mass(s.robot, q))[["xyz".index(a) for a in axes]]
                )
            ],
            lambda s, p, g, axes=axes: [p, p + _free_shift(g, axes)],
            exact=True,
        )
        for axes in ("xyz", "xy")
    ]


def _posture_left(s: Setup, q: Any, target: Any, coordinates: Sequence[int]) -> list[Any]:
    """Differences joint by joint; of floating joints by the pose of one in the other."""
    m = s.robot.mechanism
    at, angles, lengths = 0, [], []
    for c in coordinates:
        kind, own = m.joint_types[c], q[m.q_start[c] : m.q_start[c + 1]]
        goal, at = target[at : at + len(own)], at + len(own)
        free = np.isinf(m.lower[m.q_start[c + 1] - 1])
        if kind.has_quaternion:
            start = int(m.v_start[c])
            whole = np.array(q)
            whole[m.q_start[c] : m.q_start[c + 1]] = goal
            v = s.robot.difference(q, whole)[start : start + kind.n_v]
            lengths += [*v[:-3]]
            angles += [*v[-3:]]
        elif kind is JointType.PRISMATIC:
            lengths.append(goal[0] - own[0])
        else:
            lengths += [*(goal - own)[:-1]]
            way = goal[-1] - own[-1]
            angles.append(np.angle(np.exp(1j * way)) if free else way)
    return [np.linalg.norm(part) for part in (angles, lengths) if part]


def _posture_cases() -> list[Case]:
    def some(s: Setup) -> list[int]:
        return list(range(len(s.robot.joint_names)))[::-2]

    def part(s: Setup, q: Any) -> np.ndarray:
        m = s.robot.mechanism
        return np.concatenate([q[m.q_start[c] : m.q_start[c + 1]] for c in some(s)])

    def turns(s: Setup, q: Any, g: np.random.Generator) -> list[Any]:
        m = s.robot.mechanism
        more = np.array(q)
        for c, kind in enumerate(m.joint_types):
            k = int(m.q_start[c + 1]) - 1
            if kind in (JointType.CONTINUOUS, JointType.PLANAR):
                more[k] += 2 * np.pi * g.integers(-2, 3)
            if kind.has_quaternion:
                more[k - 3 : k + 1] *= -2.0
        return [q, more]

    return [
        Case(
            "Posture",
            lambda s: Posture(),
            lambda s, q: np.array(q),
            lambda s, q, x: _posture_left(s, q, x, range(len(s.robot.joint_names))),
            turns,
        ),
        Case(
            "Posture of some",
            lambda s: Posture(joints=[s.robot.joint_names[c] for c in some(s)]),
            part,
            lambda s, q, x: _posture_left(s, q, x, some(s)),
        ),
    ]


def _singles(s: Setup) -> list[int]:
    m = s.robot.mechanism
    return [c for c, kind in enumerate(m.joint_types) if kind.n_q == 1]


def _coupling_case() -> Case:
    def value(s: Setup, q: Any, place: int) -> float:
        return float(q[s.robot.mechanism.q_start[_singles(s)[place]]])

    return Case(
        "JointCoupling",
        lambda s: JointCoupling(
            *(s.robot.joint_names[_singles(s)[k]] for k in (1, 0)), ratio=-0.7, offset=0.2
        ),
        lambda s, q: np.zeros(0),
        lambda s, q, _: [abs(value(s, q, 1) - (-0.7 * value(s, q, 0) + 0.2))],
        exact=True,
    )


def _manipulability_cases() -> list[Case]:
    def left(s: Setup, q: Any, least: Any, rows: list[int]) -> list[Any]:
        now = measures.manipulability(s.robot, q, s.frame, rows)
        return [max(0.0, float(np.ravel(least)[0]) - now)]

    def just(s: Setup, q: Any, rows: list[int]) -> np.ndarray:
        return np.array([(1.0 - 1e-8) * measures.manipulability(s.robot, q, s.frame, rows)])

    found = []
    for how, rows in (
        ({}, [0, 1, 2, 3, 4, 5]),  # fewer joints than rows on some robots
        ({"position": "xy", "rotation": ""}, [0, 1]),
        ({"rotation": (False, False, True)}, [0, 1, 2, 5]),
    ):
        found.append(
            Case(
                f"Manipulability {rows}",
                lambda s, how=how: Manipulability(s.frame, **how),
                lambda s, q, rows=rows: just(s, q, rows),
                lambda s, q, least, rows=rows: left(s, q, least, rows),
                lambda s, least, g: [least, 0.5 * least, 1e-3 * least, least[0]],
                exact=True,
                kink=True,
            )
        )
    return found


def _closed_case() -> Case:
    """Every kind of loop; the robot's configurations are those where all are closed."""

    def left(s: Setup, q: Any, _: Any) -> list[Any]:
        m, found = s.robot.mechanism, []
        for loop in m.loops:
            T = measures.back(s.robot.fk(q, loop.frame_a)) @ s.robot.fk(q, loop.frame_b)
            held = loop.held
            if held.length:
                found.append(abs(np.linalg.norm(T[:3, 3]) - loop.distance))
            if held.position:
                found.append(np.linalg.norm([T["xyz".index(a), 3] for a in held.position]))
            if held.across:
                found.append(abs(T[2, 0]))
            if held.rotation:
                turns = held.rotation
                found.append(measures.rotation_left(T, np.eye(4), turns, "tool", None, exact=False))
        at = dict(zip(m.joint_names, m.q_start.tolist(), strict=False))
        for each in m.couplings:
            inputs = [float(q[at[name]]) for name in each.leaders]
            found.append(abs(float(each.function.value(NUMPY, inputs)) - q[at[each.joint]]))
        return found

    return Case(
        "Closed",
        lambda s: Closed(),
        lambda s, q: np.zeros(0),
        left,
        fits=lambda s: s.label == "closed",
    )


CASES: dict[type[Task], list[Case]] = {
    Pose: _pose_cases(Pose, "world"),
    RelativePose: _pose_cases(RelativePose, "other"),
    Orientation: _orientation_cases(),
    Position: _position_cases(),
    Pointing: [case for case in _ray_cases() if case.label.startswith("Pointing")],
    Direction: [case for case in _ray_cases() if case.label.startswith("Direction")],
    OnLine: [case for case in _line_cases() if case.label.startswith("OnLine")],
    OnPlane: [case for case in _line_cases() if case.label.startswith("OnPlane")],
    CenterOfMass: _mass_cases(),
    Posture: _posture_cases(),
    JointCoupling: [_coupling_case()],
    Closed: [_closed_case()],
    Manipulability: _manipulability_cases(),
}
