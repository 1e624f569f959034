"""Rows S2-201 and S2-202: a window of pyrender, as the original opens, where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork import settings
from linkwork.errors import InputError, MissingExtraError, ShapeError
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.robot import URDF

FRAMES_PER_SECOND = 30.0

_WITHOUT = (
    "needs pyrender: pip install pyrender; without it put the meshes into a scene of trimesh: "
    "scene = trimesh.Scene(); [scene.add_geometry(mesh, transform=pose) for mesh, pose in "
    "robot.visual_trimesh_fk(cfg).items()]; scene.show()"
)


def show(robot: URDF, loop: Sequence[Any], loop_time: float, use_collision: bool) -> None:
    """A window on the configurations of a loop, one or several, until it is closed.

    See `URDF.show` and `URDF.animate`.
    """
    who = "URDF.show" if len(loop) < 2 else "URDF.animate"
    try:
        pyrender = import_module("pyrender")
    except ImportError as error:
        if error.name != "pyrender":
            raise MissingExtraError(f"{who}: pyrender cannot be imported: {error}") from error
        way = _WITHOUT.replace("visual_", "collision_") if use_collision else _WITHOUT
        raise MissingExtraError(f"{who} {way}") from None
    poses_at = robot.collision_trimesh_fk if use_collision else robot.visual_trimesh_fk
    along = [poses_at(cfg) for cfg in loop]
    scene = pyrender.Scene()
    nodes = {
        mesh: scene.add(pyrender.Mesh.from_trimesh(mesh, smooth=False), pose=pose)
        for mesh, pose in along[0].items()
    }
    if len(along) < 2:
        pyrender.Viewer(scene, use_raymond_lighting=True)
        return
    viewer = pyrender.Viewer(scene, run_in_thread=True, use_raymond_lighting=True)
    due = settings.clock()
    for poses in cycle(along):
        if not viewer.is_active:
            break
        with viewer.render_lock:
            for mesh, pose in poses.items():
                scene.set_pose(nodes[mesh], pose)
        due += loop_time / len(loop)
        settings.wait(due - settings.clock())


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
    if cfg_trajectory is None:  # from limit to limit, for the joints that have both
        lower, upper = robot.joint_limit_cfgs
        steps = {j: np.array([lower[j], upper[j]]) for j in lower if j in upper}
    else:
        steps = _steps(cfg_trajectory)
    lengths = {len(values) for values in steps.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"'{getattr(k, 'name', k)}': {len(v)}" for k, v in steps.items())
        raise ShapeError(f"every joint needs as many positions as the others: {listed}")
    n_steps = lengths.pop() if lengths else 0
    rows = [{joint: values[k] for joint, values in steps.items()} for k in range(n_steps)]
    robot.link_fk_batch(rows)  # names and positions are right
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
