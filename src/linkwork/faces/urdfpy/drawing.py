"""Rows S2-201 and S2-202: what a viewer will be given, and what to do until there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.faces.urdfpy.values import WrongTypeError

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.joint import Joint
    from linkwork.faces.urdfpy.robot import URDF

Floats = NDArray[np.float64]

FRAMES_PER_SECOND = 30.0

_MEANWHILE = (
    "there is no viewer yet; until then put the meshes into a scene of trimesh: "
    "scene = trimesh.Scene(); [scene.add_geometry(mesh, transform=pose) for mesh, pose in "
    "robot.visual_trimesh_fk(cfg).items()]; scene.show()"
)


def joint_limits(joints: Sequence[Joint]) -> Floats:
    """Lower and upper bounds (n, 2) of joints, infinite where there is none."""
    bounds = np.tile([-np.inf, np.inf], (len(joints), 1))
    for k, joint in enumerate(joints):
        limit = joint.limit
        if limit is not None:
            bounds[k, 0] = -np.inf if limit.lower is None else limit.lower
            bounds[k, 1] = np.inf if limit.upper is None else limit.upper
    return bounds


def show(robot: URDF, cfg: Any, use_collision: bool) -> Any:
    """Raise: as `link_fk` for a faulty configuration, else UnsupportedFeatureError."""
    robot.link_fk(cfg)
    way = _MEANWHILE.replace("visual_", "collision_") if use_collision else _MEANWHILE
    raise UnsupportedFeatureError(f"URDF.show: {way}")


def animate(robot: URDF, cfg_trajectory: Any, loop_time: float, use_collision: bool) -> Any:
    """Raise: for faulty arguments as `URDF.animate`, else UnsupportedFeatureError."""
    frames(robot, cfg_trajectory, loop_time)
    way = _MEANWHILE.replace("visual_", "collision_") if use_collision else _MEANWHILE
    raise UnsupportedFeatureError(f"URDF.animate: {way}")


def frames(robot: URDF, cfg_trajectory: Any = None, loop_time: float = 3.0) -> list[dict[Any, Any]]:
    """The configurations of one loop, 30 a second: along the trajectory and back to its beginning.

    Fewer than two steps, or no joint with limits, give one configuration.

    Raises: WrongTypeError, InputError, KeyError.
    """
    try:
        seconds = float(loop_time)
    except (TypeError, ValueError):
        kind = type(loop_time).__name__
        raise WrongTypeError(f"loop_time is a number of seconds, not {kind}") from None
    if not 0.0 < seconds < np.inf:
        raise InputError(f"loop_time is a number of seconds above zero, not {loop_time}")
    steps = _limits(robot) if cfg_trajectory is None else _steps(cfg_trajectory)
    lengths = {len(values) for values in steps.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"'{getattr(k, 'name', k)}': {len(v)}" for k, v in steps.items())
        raise ShapeError(f"every joint needs as many positions as the others: {listed}")
    n_steps = lengths.pop() if lengths else 0
    robot.link_fk_batch(list(map(dict, _rows(steps, n_steps))))  # names and positions are right
    if n_steps < 2:
        return [{joint: values[0] for joint, values in steps.items() if len(values)}]
    count = max(3, round(seconds * FRAMES_PER_SECOND))
    forth = np.linspace(0.0, n_steps - 1, (count + 1) // 2)
    at = np.concatenate([forth, forth[::-1][count % 2 :]])  # both ends are shown exactly
    before = np.minimum(at.astype(int), n_steps - 2)
    weight = at - before
    made: list[dict[Any, Any]] = []
    for k, part in zip(before.tolist(), weight.tolist(), strict=True):
        made.append({j: (1 - part) * v[k] + part * v[k + 1] for j, v in steps.items()})
    return made


def _rows(steps: Mapping[Any, Floats], n: int) -> list[list[tuple[Any, Any]]]:
    return [[(joint, values[k]) for joint, values in steps.items()] for k in range(n)]


def _limits(robot: URDF) -> dict[Any, Floats]:
    """From limit to limit, for the joints that have both."""
    lower, upper = robot.joint_limit_cfgs
    return {j: np.array([lower[j], upper[j]]) for j in lower if j in upper}


def _steps(cfg_trajectory: Any) -> dict[Any, Floats]:
    if not isinstance(cfg_trajectory, Mapping):
        kind = type(cfg_trajectory).__name__
        raise WrongTypeError(f"a trajectory maps joints or names to positions; it is no {kind}")
    steps: dict[Any, Floats] = {}
    for joint, values in cfg_trajectory.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            kind = type(values).__name__
            name = getattr(joint, "name", joint)
            raise WrongTypeError(f"the positions of joint '{name}' are a list, not {kind}")
        try:
            steps[joint] = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            name = getattr(joint, "name", joint)
            raise InputError(f"the positions of joint '{name}' must be numbers") from None
    return steps
