"""Ways past obstacles as rows of angles: ``skrobot.planner.sqp_based``."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import whole_number
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.planner.swept_sphere import SweptSphereSdfCollisionChecker
from linkwork.poses import pose, xyz_rpy

Floats = NDArray[np.float64]


def sqp_plan_trajectory(  # noqa: PLR0913, PLR0917  as the original
    collision_checker: SweptSphereSdfCollisionChecker,
    av_start: ArrayLike,
    av_goal: ArrayLike,
    joint_list: Sequence[Any],
    n_wp: int,
    safety_margin: float = 1e-2,
    with_base: bool = False,
    weights: Any = None,
    initial_trajectory: Any = None,
    slsqp_option: Any = None,
    optimization_callback: Any = None,
    base_limit: Any = None,
) -> Floats:
    """Angles (n_wp, n) on a way from start to goal (n,) on which no checked link touches.

    The core's planner finds it, obstacles being ``safety_margin`` (m) thicker than they are, and
    looks at all of it; the rows are its corners, and points between them where it is longest.
    ``with_base`` adds x, y and yaw of the robot in the world to each row. ``weights``,
    ``initial_trajectory``, ``slsqp_option``, ``optimization_callback`` and ``base_limit`` are taken
    and change nothing. The robot does not move.

    Raises: ShapeError; InputError where there is no way, with the reason, and where ``n_wp`` is
    less than the corners of the way that was found.
    """
    del weights, initial_trajectory, slsqp_option, optimization_callback, base_limit
    count = whole_number(n_wp, "n_wp", least=2)
    width = len(joint_list) + 3 * with_base
    ends = [np.asarray(each, np.float64) for each in (av_start, av_goal)]
    if any(each.shape != (width,) for each in ends):
        raise ShapeError(f"start and goal have {width} angles, not {[e.shape for e in ends]}")
    core, model = collision_checker.model("planar" if with_base else None)
    places = [core.positions(joint) for joint in joint_list]
    stand = core.positions(None)
    names = [name for joint in joint_list for name in core._parts_of[id(joint)]]
    if with_base:
        names.append(core._base_joint)
    T_world_robot = collision_checker.robot_model._world()
    height = T_world_robot[2, 3]
    T_robot_root = np.linalg.inv(T_world_robot) @ core.T_world_root()

    def configuration(av: Floats) -> Floats:
        q = core.q()
        for place, angle in zip(places, av.tolist(), strict=False):
            q[place] = angle
        if with_base:
            T = pose([*av[-3:-1], height], rpy=[0.0, 0.0, av[-1]]) @ T_robot_root
            xyz, rpy = xyz_rpy(np.linalg.inv(core.T_world_root()) @ T)
            q[stand] = xyz[0], xyz[1], rpy[2]
        return q

    def angles(q: Floats) -> Floats:
        found = np.column_stack([q[:, place] for place in places])
        if not with_base:
            return found
        x, y, yaw = q[:, stand].T
        zero = np.zeros_like(x)
        moved = pose(np.stack([x, y, zero], axis=1), rpy=np.stack([zero, zero, yaw], axis=1))
        xyz, rpy = xyz_rpy(core.T_world_root() @ moved @ np.linalg.inv(T_robot_root))
        return np.column_stack([found, xyz[:, :2], np.unwrap(rpy[:, 2])])

    scene = collision_checker.scene(core, safety_margin)
    plan = core.robot.plan(*map(configuration, ends), scene=scene, joints=names, model=model)
    if not plan.success:
        raise InputError(f"there is no way from av_start to av_goal: {plan.reason}")
    return _on_the_way(angles(plan.q), count)


def _on_the_way(corners: Floats, count: int) -> Floats:
    """So many rows on the way through corners (k, n), these among them.

    Raises: InputError for fewer rows than corners.
    """
    if len(corners) > count:
        raise InputError(f"the way has {len(corners)} corners: n_wp must be at least that")
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    parts = np.ones(len(lengths), int)
    for _ in range(count - len(corners)):
        parts[np.argmax(lengths / parts)] += 1
    rows = [
        first + np.arange(n)[:, None] / n * (last - first)
        for first, last, n in zip(corners[:-1], corners[1:], parts, strict=True)
    ]
    return np.vstack([*rows, corners[-1:]])
