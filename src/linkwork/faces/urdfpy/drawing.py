"""Rows S2-201 and S2-202: the robot in a page of the browser, in place of the original's window."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import InputError, ShapeError
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError
from linkwork.loading import load

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.kinematics import Core
    from linkwork.faces.urdfpy.robot import URDF
    from linkwork.robot import Robot
    from linkwork.view.live import Viewer

FRAMES_PER_SECOND = 30.0


def show(
    robot: URDF, core: Core, loop: Sequence[Any], loop_time: float, use_collision: bool
) -> Viewer | None:
    """A page on the configurations of a loop, one or several.

    Where a browser is opened it returns when the page is closed, as the original's window does;
    elsewhere at once, with what holds the page.
    """
    from linkwork.view.live import view  # noqa: PLC0415  few need it
    from linkwork.view.motion import Motion  # noqa: PLC0415

    rows = np.array([core.slots.configuration(cfg) for cfg in loop])
    seen = ("collision" if use_collision else "visual", "ground", "shadow")
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        shown = _saved_and_loaded(robot, Path(folder) / "robot.urdf")
        q = _rows(shown, core, rows)
        viewer = view(shown, q[0], show=seen, title=robot.name)
    if len(q) > 1:
        viewer.play(Motion(np.linspace(0.0, loop_time, len(q)), q, loop=True))
    if not viewer.browser:
        return viewer
    with viewer:
        viewer.wait(until_pages_close=True)
    return None


def _saved_and_loaded(robot: URDF, file: Path) -> Robot:
    """The robot as it is now, with what a program has changed of it, meshes included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page names what it cannot show
        robot.save(file)
    return load(file)


def _rows(shown: Robot, core: Core, rows: Floats) -> Floats:
    """Configurations (n, nq) of the robot that is shown, of those of the core."""
    m, places = shown.mechanism, list[int]()
    for joint in core.slots.actuated:
        places += range(*m.q_slice(m.joint(joint.name)).indices(m.n_q))
    q = np.tile(shown.neutral(), (len(rows), 1))
    q[:, places] = rows
    return q


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
        steps = _steps(robot, cfg_trajectory)
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


def _steps(robot: URDF, cfg_trajectory: Any) -> dict[Any, Floats]:
    """The positions of each joint, from a mapping or from rows of positions."""
    if isinstance(cfg_trajectory, np.ndarray) and cfg_trajectory.ndim == 2:
        joints = robot.actuated_joints
        if cfg_trajectory.shape[1] != len(joints):
            text = f"a trajectory of '{robot.name}' has the shape (n, {len(joints)})"
            raise ShapeError(f"{text}, not {cfg_trajectory.shape}")
        cfg_trajectory = dict(zip(joints, cfg_trajectory.T, strict=True))
    if not isinstance(cfg_trajectory, Mapping):
        kind = type(cfg_trajectory).__name__
        raise WrongTypeError(
            f"a trajectory maps joints or names to positions, or is an array (n, joints), "
            f"not of type {kind}"
        )
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
