"""Motions along planned paths, which touch nothing either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.checks import finite_number
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.trajectory.along_path import time_optimal

if TYPE_CHECKING:
    from linkwork.planning.kept import Kept
    from linkwork.planning.planner import Plan
    from linkwork.robot import Robot
    from linkwork.trajectory.piecewise import Trajectory

_HALVINGS = 6
_DENSER = 4  # times with twice the points where a spline does not keep what is kept
_CHORD = 1e-4  # m: how far the robot may be from the straight motions that are looked at


def along(
    plan: Plan, *, robot: Robot | None = None, deviation: float = 0.1, **limits: Any
) -> Trajectory:
    """The quickest motion along a planned path, whose corners are rounded where there is room.

    Corners are rounded by at most ``deviation`` (rad or m, see `time_optimal`), by less where the
    motion would touch something, or come nearer to the scene than the plan's clearance, and where
    nothing else helps the motion stands still in them.
    Limits and the other keywords are those of `time_optimal`.

    Where loops or tasks are kept the path is the spline through its points, which are many, and
    the motion keeps them within their tolerances, loops within 1e-6: that is looked at too.
    ``deviation`` says nothing there. A mechanism with loops needs its ``robot``.

    Raises: as `time_optimal`; InputError for a plan without a path, and where no motion keeps what
    is kept; UnsupportedFeatureError for joints with quaternions.
    """
    from linkwork.planning.planner import Plan  # noqa: PLC0415  not all need it

    if not isinstance(plan, Plan):
        raise InputError(
            f"a planned path is a Plan, as Robot.plan gives, not {plan!r:.40}; time_optimal takes "
            "points"
        )
    if not plan.success:
        raise InputError(f"there is no path to move along: {plan.reason}")
    deviation = finite_number(deviation, "deviation", least=0.0)
    if plan.kept is not None:
        return _along_kept(plan, plan.kept, robot, limits)
    for halving in range(_HALVINGS):
        motion = time_optimal(plan.q, robot=robot, deviation=deviation / 2**halving, **limits)
        if deviation == 0.0 or _is_free(plan, motion):
            return motion
    return time_optimal(plan.q, robot=robot, deviation=0.0, **limits)


def _along_kept(plan: Plan, kept: Kept, robot: Robot | None, limits: Any) -> Trajectory:
    """The quickest motion on the spline through points that are close enough."""
    m = kept.mechanism
    for name, kind in zip(m.joint_names, m.joint_types, strict=True):
        if kind.has_quaternion:
            raise UnsupportedFeatureError(
                f"joint '{name}' is {kind.label}: its quaternion is no polynomial in time; the "
                "configurations of the path are plan.sample()"
            )
    if robot is None and m.is_closed:
        raise InputError(f"{m.name} has loops: give robot=, which closes them along the motion")
    points, spacing = plan.q, plan.length / max(len(plan.q) - 1, 1)
    last: InputError | None = None
    touches = False
    for _ in range(_DENSER):
        try:
            motion = time_optimal(points, robot=robot, **limits)
        except InputError as error:  # a spline may swing over limits
            last = error
        else:
            last = None
            t = motion.times
            within = (t[:-1, None] + np.diff(t)[:, None] * np.linspace(0.0, 1.0, 5)).ravel()
            q = motion(within if len(within) else np.zeros(1))
            if kept.done(q):
                if _is_free(plan, motion):
                    return motion
                touches = True
        spacing *= 0.5
        points = plan.sample(max(spacing, 1e-6)) if spacing > 0.0 else points
    if last is not None:
        raise last
    raise InputError(
        "a motion along the path would touch something between its points, which is that close, or "
        f"come nearer to the scene than {1e3 * plan.kept_clearance:g} mm"
        if touches
        else "between the points of the path a spline does not keep what is to be kept"
    )


def _is_free(plan: Plan, motion: Trajectory) -> bool:
    """Whether nothing is touched all the way, and the clearance from the scene kept.

    Between two instants joints are nowhere farther from the straight line than a dt^2 / 8, and
    what moves by them no farther than bounds on speeds say, for these in place of the speeds.
    """
    from linkwork.collision.motion import MORE  # noqa: PLC0415  not all need it

    if motion.duration == 0.0:
        return True
    fastest = np.maximum(*np.abs(motion.extremes(2)))
    bend = plan.model.speed_bound(fastest, *motion.extremes(0)) / 8.0
    n = int(np.ceil(motion.duration * np.sqrt(bend / _CHORD))) + 1
    q = motion(np.linspace(0.0, motion.duration, n + 1))
    # two links may both be off; and of a tolerance MORE is not kept
    looks = [(plan.model, 2.0 * _CHORD + MORE)]
    if plan.kept_clearance > 0.0:
        looks.append((plan.model.of_scene, plan.kept_clearance + _CHORD + MORE))
    return not any(
        model.motion_collides(q[:-1], q[1:], plan.scene, tolerance=tolerance).touches.any()
        for model, tolerance in looks
    )
