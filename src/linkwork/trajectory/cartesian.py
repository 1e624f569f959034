"""Motions of a frame along lines, arcs and other paths in space, as positions of the joints."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import poses
from linkwork.checks import finite_number, real_array, rigid_pose, rigid_poses
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.named_positions import labels
from linkwork.robot import Robot
from linkwork.trajectory import profiles
from linkwork.trajectory.joints import Name, through
from linkwork.trajectory.piecewise import (
    Floats,
    Trajectory,
    from_polynomials,
    limit_rows,
    mechanism_of,
    then_still,
)
from linkwork.trajectory.profiles import Limits, Profile

Path = Callable[[Floats], Floats]
"""A path in space: shares s (n,) of its length, from 0 to 1, to poses T_world_frame (n, 4, 4)."""

_MOST_POINTS = 20_000
_LOOKS = 9  # places at which a path without a way is looked at
_TIGHT: dict[str, Any] = {"position_tolerance": 1e-10, "rotation_tolerance": 1e-10}
# what solutions miss of their poses is what splines through them wriggle by


def line(
    robot: Robot,
    q0: ArrayLike,
    T_world_goal: ArrayLike,
    frame: str | None = None,
    **keywords: Any,
) -> Trajectory:
    """The motion of a frame on a straight line to a pose (4, 4), while it turns at an even rate.

    From where the frame is at ``q0`` (nq,). ``frame`` is the robot's tip by default; the keywords
    are those of `follow`.

    Raises: as `follow`.
    """
    T_0 = _start(robot, q0, frame)
    T_1 = rigid_pose(T_world_goal, "T_world_goal")
    length, angle = _way(T_0, T_1)
    return follow(robot, q0, lambda s: poses.interpolate(T_0, T_1, s, path="separate"), frame,
                  length=length, angle=angle, **keywords)  # fmt: skip


def arc(
    robot: Robot,
    q0: ArrayLike,
    p_world_via: ArrayLike,
    T_world_goal: ArrayLike,
    frame: str | None = None,
    **keywords: Any,
) -> Trajectory:
    """The motion of a frame's origin on the arc through a point (3,) to a pose (4, 4).

    The circle is that of the origin at ``q0`` (nq,), the point and the goal; the frame turns at an
    even rate to the goal's rotation. The keywords are those of `follow`.

    Raises: InputError where the three points lie on a line; as `follow`.
    """
    T_0 = _start(robot, q0, frame)
    T_1 = rigid_pose(T_world_goal, "T_world_goal")
    via = real_array(p_world_via, "p_world_via")
    if via.shape != (3,):
        raise ShapeError(f"p_world_via must have shape (3,), not {via.shape}")
    if not np.isfinite(via).all():
        raise InputError(f"p_world_via must be finite numbers, not {via.tolist()}")
    begin, end = T_0[:3, 3], T_1[:3, 3]
    u, w = via - begin, end - begin
    normal = np.cross(u, w)
    size = float(normal @ normal)
    if not size > 1e-16 * float(u @ u) * float(w @ w):
        raise InputError(
            "the start, p_world_via and the goal lie on a line, which is no arc; see line"
        )
    # the circumcentre; Wikipedia, Circumscribed circle, from vectors
    center = begin + (np.cross(normal, u) * float(w @ w) + np.cross(w, normal) * float(u @ u)) / (
        2.0 * size
    )
    x = begin - center
    radius = float(np.linalg.norm(x))
    x /= radius
    y = np.cross(normal / math.sqrt(size), x)
    turn = math.atan2(float((end - center) @ y), float((end - center) @ x)) % (2.0 * math.pi)

    def path(s: Floats) -> Floats:
        T = poses.interpolate(T_0, T_1, s, path="separate")
        phi = (turn * s)[:, None]
        T[:, :3, 3] = center + radius * (np.cos(phi) * x + np.sin(phi) * y)
        return T

    angle = _way(T_0, T_1)[1]
    return follow(robot, q0, path, frame, length=radius * turn, angle=angle, **keywords)


def follow(  # noqa: PLR0913  limits of two kinds, by name
    robot: Robot,
    q0: ArrayLike,
    path: Path,
    frame: str | None = None,
    *,
    length: float,
    angle: float = 0.0,
    velocity: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    angular_velocity: float | None = None,
    angular_acceleration: float | None = None,
    angular_jerk: float | None = None,
    duration: float | None = None,
    profile: Name = "double_s",
    joint_velocity: ArrayLike | None = None,
    joint_acceleration: ArrayLike | None = None,
    max_deviation: float = 1e-5,
    max_rotation: float = 1e-4,
) -> Trajectory:
    """The motion of joints (nq,) that takes a frame along a path in space, from rest to rest.

    ``path`` gives the poses T_world_frame (n, 4, 4) at shares s (n,) of the path, s = 0 being
    where the frame is at ``q0``; ``length`` (m) and ``angle`` (rad) are its whole way, along which
    s grows by ``profile`` under the limits in m and rad, s, or in ``duration`` seconds. The joints
    come from inverse kinematics, each position from the one before; where joints would be quicker
    than ``joint_velocity`` (default: the robot's limits) or ``joint_acceleration`` (nv,) allow, the
    whole motion is stretched.

    Between the solutions joints move on a quintic spline of so many of them that the frame is never
    farther than ``max_deviation`` (m) and ``max_rotation`` (rad) from where the path has it at that
    time, checked four times between each two.

    Raises: InputError where the path leaves the reach or jumps, with the share and the reason;
    UnsupportedFeatureError for robots with quaternions in q; ShapeError.
    """
    m = mechanism_of(robot)
    for name, kind in zip(m.joint_names, m.joint_types, strict=True):
        if kind.has_quaternion:
            raise UnsupportedFeatureError(
                f"joint '{name}' is {kind.label}: its quaternion is no polynomial; lock it, "
                "or take a robot on a fixed base"
            )
    most = (
        finite_number(max_deviation, "max_deviation", above=0.0),
        finite_number(max_rotation, "max_rotation", above=0.0),
    )
    joint_velocity = m.velocity_limit if joint_velocity is None else joint_velocity
    bounds: dict[str, Any] = {"velocity": limit_rows(joint_velocity, m.n_v, "joint_velocity")}
    if joint_acceleration is not None:
        bounds["acceleration"] = limit_rows(joint_acceleration, m.n_v, "joint_acceleration")
    ways = (finite_number(length, "length", least=0.0), finite_number(angle, "angle", least=0.0))
    start, begin = _start(robot, q0, frame), real_array(q0, "q0")
    way = _checked(path)
    off = _way(start, way(np.zeros(1))[0])
    if off[0] > most[0] or off[1] > most[1]:
        raise InputError("the path does not begin where the frame is at q0")
    if not any(ways):
        moved = np.max([_way(start, T) for T in way(np.linspace(0.0, 1.0, _LOOKS))], axis=0)
        if (moved > most).any():
            raise InputError(
                f"length and angle are 0, and the path leads {moved[0]:.3g} m and {moved[1]:.3g} "
                "rad away: give its length, or its angle"
            )
        still = from_polynomials([0.0, 0.0], begin[None, None], labels(m, velocities=False))
        return then_still(still, duration or 0.0)
    law = _law(
        profile,
        ways,
        ((velocity, angular_velocity), (acceleration, angular_acceleration), (jerk, angular_jerk)),
        duration,
    )
    count = 17
    while True:
        made = _through_solutions(robot, begin, way, frame, law, count)
        off = _deviation(robot, made, way, frame, law, count)
        if off[0] <= most[0] and off[1] <= most[1]:
            break
        if 2 * count > _MOST_POINTS:
            raise InputError(
                f"with {count} solutions the frame is still {off[0]:.3g} m and {off[1]:.3g} rad "
                "off the path: it jumps, or passes a singularity; give a larger max_deviation, or "
                "another way"
            )
        count = 2 * count - 1
    use = made.uses(**bounds)
    factor = max(float(each.max()) ** (1.0 / k) for k, each in enumerate(use.values(), 1))
    return made.stretched(factor) if factor > 1.0 else made


def _start(robot: Robot, q0: ArrayLike, frame: str | None) -> Floats:
    """The pose (4, 4) of a frame at the one configuration q0.

    Raises: InputError, ShapeError.
    """
    m = mechanism_of(robot)
    q = real_array(q0, "q0")
    if q.shape != (m.n_q,):
        raise ShapeError(f"q0 must have shape ({m.n_q},), not {q.shape}")
    return robot.fk(q, frame)


def _checked(path: Path) -> Path:
    """A path whose poses are looked at: it is a function of the caller's.

    Raises: InputError, ShapeError.
    """
    if not callable(path):
        raise InputError(
            f"path must be a function of shares s (n,) that gives poses (n, 4, 4), not {path!r:.40}"
        )

    def checked(s: Floats) -> Floats:
        T = rigid_poses(path(s), "the poses of path")
        if T.shape != (len(s), 4, 4):
            raise ShapeError(
                f"path must give poses ({len(s)}, 4, 4) for shares s ({len(s)},), not {T.shape}"
            )
        return T

    return checked


def _law(
    name: Name,
    ways: tuple[float, float],
    given: tuple[tuple[float | None, float | None], ...],
    duration: float | None,
) -> Profile:
    """The profile of s, under limits of lengths and of angles."""
    names = (("velocity", "angular_velocity"), ("acceleration", "angular_acceleration"),
             ("jerk", "angular_jerk"))  # fmt: skip
    bounds: list[float] = []
    for pair, called in zip(given, names, strict=True):
        shares = [
            finite_number(limit, what, above=0.0) / way
            for limit, what, way in zip(pair, called, ways, strict=True)
            if limit is not None and way > 0.0
        ]
        bounds.append(min(shares, default=math.inf))
    law = profiles.shape(name, Limits(*bounds))
    if duration is None:
        if not any(map(math.isfinite, bounds)):
            only = {(True, False): "goes straight", (False, True): "only turns"}
            moves = only.get((ways[0] > 0.0, ways[1] > 0.0))
            own = [pair[int(ways[0] == 0.0)] for pair in names]
            raise InputError(
                f"the frame {moves}: give limits ({', '.join(own)}), or a duration"
                if moves
                else "give limits (velocity, acceleration, jerk), or a duration"
            )
        return law
    asked = finite_number(duration, "duration", above=0.0)
    if any(map(math.isfinite, bounds)) and asked < law.duration * (1.0 - 1e-12):
        raise InputError(
            f"duration {asked:g} s is too short for these limits: {law.duration:.9g} s at least"
        )
    return profiles.stretched(law, asked)


def _shares(law: Profile, t: Floats) -> Floats:
    """s (n,) at instants (n,) of a profile."""
    times = np.concatenate([[0.0], np.cumsum(law.durations)])
    return np.clip(from_polynomials(times, law.coefficients[:, :, None])(t)[:, 0], 0.0, 1.0)


def _through_solutions(
    robot: Robot, q0: Floats, path: Path, frame: str | None, law: Profile, count: int
) -> Trajectory:
    t = np.linspace(0.0, law.duration, count)
    s = _shares(law, t)
    targets = path(s)
    q = np.empty((count, len(q0)))
    q[0] = q0
    for k in range(1, count):
        found = robot.ik(targets[k], frame, q0=q[k - 1], **_TIGHT)
        if not found.success:
            raise InputError(f"the frame cannot be at {s[k]:.1%} of the path: {found.reason}")
        q[k] = found.q
    steps = np.abs(np.diff(q, axis=0))
    usual = np.median(steps, axis=0) * 20.0 + 0.5
    if (steps > usual).any():
        k, joint = np.argwhere(steps > usual)[0].tolist()
        raise InputError(
            f"at {s[k + 1]:.1%} of the path joint "
            f"'{labels(robot.mechanism, velocities=False)[joint]}' would jump by "
            f"{steps[k, joint]:.3g}: the arm has to turn over there; begin in another configuration"
        )
    names = labels(robot.mechanism, velocities=False)
    return through(q, times=t, kind="quintic", joint_names=names)


def _deviation(
    robot: Robot, made: Trajectory, path: Path, frame: str | None, law: Profile, count: int
) -> tuple[float, float]:
    """The most that the frame is off the path, m and rad, at four places between two solutions."""
    t = np.linspace(0.0, law.duration, 5 * (count - 1) + 1)
    T, wanted = robot.fk(made(t), frame), path(_shares(law, t))
    off = np.linalg.norm(T[:, :3, 3] - wanted[:, :3, 3], axis=1)
    return float(off.max()), float(_angles(T, wanted).max())


def _angles(T: Floats, other: Floats) -> Floats:
    """The angle between rotations, |R - S| = sqrt(8) sin(angle / 2), exact for small ones."""
    gap = np.linalg.norm(T[..., :3, :3] - other[..., :3, :3], axis=(-2, -1))
    return 2.0 * np.arcsin(np.clip(gap / math.sqrt(8.0), 0.0, 1.0))


def _way(T_0: Floats, T_1: Floats) -> tuple[float, float]:
    """The distance (m) and the angle (rad) between two poses."""
    return float(np.linalg.norm(T_1[:3, 3] - T_0[:3, 3])), float(_angles(T_0, T_1))
