"""Motions along planned paths, which touch nothing either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.checks import finite_number
from linkwork.errors import InputError
from linkwork.trajectory.along_path import time_optimal

if TYPE_CHECKING:
    from linkwork.planning.planner import Plan
    from linkwork.robot import Robot
    from linkwork.trajectory.piecewise import Trajectory

_HALVINGS = 6
_CHORD = 1e-4  # m: how far the robot may be from the straight motions that are looked at


def along(
    plan: Plan, *, robot: Robot | None = None, deviation: float = 0.1, **limits: Any
) -> Trajectory:
    """The quickest motion along a planned path, whose corners are rounded where there is room.

    Corners are rounded by at most ``deviation`` (rad or m, see `time_optimal`), by less where the
    motion would touch something, and where nothing else helps the motion stands still in them.
    Limits and the other keywords are those of `time_optimal`. Motions past clouds of points are
    looked at in steps, as `Plan.proven` says.

    Raises: as `time_optimal`; InputError for a plan without a path.
    """
    if not plan.success:
        raise InputError(f"there is no path to move along: {plan.reason}")
    deviation = finite_number(deviation, "deviation", least=0.0)
    for halving in range(_HALVINGS):
        motion = time_optimal(plan.q, robot=robot, deviation=deviation / 2**halving, **limits)
        if deviation == 0.0 or _is_free(plan, motion):
            return motion
    return time_optimal(plan.q, robot=robot, deviation=0.0, **limits)


def _is_free(plan: Plan, motion: Trajectory) -> bool:
    """Whether nothing is touched all the way.

    Between two instants the motion is nowhere farther from the straight line than a dt^2 / 8.
    """
    model = plan.model
    fastest = float(motion.uses(acceleration=1.0)["acceleration"].max())
    bend = model.reach * np.sqrt(plan.q.shape[1]) * fastest / 8.0
    if motion.duration == 0.0:
        return True
    n = int(np.ceil(motion.duration * np.sqrt(bend / _CHORD))) + 1
    q = motion(np.linspace(0.0, motion.duration, n + 1))
    if not plan.proven:
        found = model.motion_collides(q[:-1], q[1:], plan.scene, resolution=1e-3)
    else:
        found = model.motion_collides(q[:-1], q[1:], plan.scene, tolerance=2.0 * _CHORD)
    return not found.touches.any()
