"""Positions and torques along a motion, with the limits that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_rows, real_array
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import labels
from linkwork.plots.figures import BEYOND, GREY, LIGHT, bottom, drawing_with, panels
from linkwork.simulation.result import Simulation
from linkwork.trajectory.piecewise import Trajectory
from linkwork.view.motion import States, states_of

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Motion = Trajectory | Simulation | Sequence[ArrayLike] | NDArray[Any]
"""A trajectory, of some joints too; a simulation of one roll-out; arrays (times, q), with v and dv
where it is said; or a path of configurations alone, q (n, nq), or of a `Plan`."""

_SAMPLES = 400  # of a trajectory, beside its knots
_TURNING = {"deg": np.degrees(1.0), "rad": 1.0}


def states_to_plot(robot: Robot, motion: Motion) -> States:
    """A motion of this robot as arrays.

    Raises: ShapeError, InputError, UnknownNameError.
    """
    if isinstance(motion, tuple):
        return _of_arrays(robot.mechanism, motion)
    if isinstance(motion, Simulation) and motion.shape:
        raise ShapeError(
            f"the simulation is a batch of {motion.shape} roll-outs: give one as arrays, "
            "as in (result.times, result.q[0])"
        )
    return states_of(robot, motion, samples=_SAMPLES)


def _of_arrays(m: Mechanism, given: tuple[ArrayLike, ...]) -> States:
    """(times, q), (times, q, v) or (times, q, v, dv), checked."""
    if not 2 <= len(given) <= 4:
        raise InputError(f"a motion is (times, q), or with v and dv: not {len(given)} arrays")
    times = real_array(given[0], "times")
    if times.ndim != 1 or not len(times):
        raise ShapeError(f"times must have shape (n,), not {times.shape}")
    if not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise InputError("times must be finite seconds, none before the one ahead of it")
    found: list[Floats] = []
    for name, a, speeds in zip(("q", "v", "dv"), given[1:], (False, True, True), strict=False):
        rows = finite_rows(a, name, m.n_v if speeds else m.n_q, labels(m, velocities=speeds))
        if rows.shape[:-1] != times.shape:
            raise ShapeError(f"{name} {rows.shape} must have a row for each of {len(times)} times")
        found.append(rows)
    return States(times, *found)


def positions(
    robot: Robot,
    motion: Motion,
    *,
    joints: str | Sequence[str] | None = None,
    units: Literal["deg", "rad"] = "deg",
    axes: Any = None,
) -> NDArray[Any]:
    """Axes (k,) with joint positions along a motion, one for each number of q.

    ``motion`` is a `Trajectory`, a `Simulation`, arrays (times, q) or a path q (n, nq). Limits are
    dashed lines, and what lies beyond them is shaded; a limit that is far away is told in words.
    Stretches beyond a limit are drawn in orange. ``joints`` picks some by name.

    Raises: UnknownNameError, ShapeError, InputError; MissingExtraError without matplotlib.
    """
    scale = _unit(units)
    pictures = drawing_with()
    states, m = states_to_plot(robot, motion), robot.mechanism
    chosen = pictures.chosen_numbers(m, joints)[0]
    if not chosen:
        raise InputError(f"{robot.name} has no joint that moves")
    names, kinds = labels(m, velocities=False), m.kinds_of_q
    drawn = panels(axes, len(chosen))
    for axis, k in zip(drawn, chosen, strict=True):
        factor = scale if kinds[k] == "angle" else 1.0
        unit = {"angle": units, "length": "m", "quaternion": ""}[kinds[k]]
        lower, upper = factor * float(m.lower[k]), factor * float(m.upper[k])
        values = factor * states.q[:, k]
        axis.plot(states.across, values, color=pictures.COLOURS[0], linewidth=1.6)
        _with_limits(axis, states.across, values, (lower, upper), unit)
        _decorated(axis, names[k], unit)
    for axis in bottom(drawn):
        axis.set_xlabel(states.across_label)
    return drawn


def torques(
    robot: Robot,
    motion: Motion,
    *,
    joints: str | Sequence[str] | None = None,
    parts: bool = False,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    axes: Any = None,
) -> NDArray[Any]:
    """Axes (k,) with the joint forces that a motion needs, one for each number of v (N m, N).

    By inverse dynamics, of a `Trajectory` or of arrays (times, q, v, dv). Of a `Simulation`, the
    forces that its actuators had. Effort limits are dashed lines. ``parts`` draws beside the whole
    what gravity, the accelerations (inertia), the velocities (Coriolis and centrifugal forces) and,
    with ``losses``, damping and friction ask for. Of a robot with loops: the actuated joints.

    Raises: UnknownNameError, ShapeError, InputError; MissingExtraError without matplotlib.
    """
    pictures = drawing_with()
    states, m = states_to_plot(robot, motion), robot.mechanism
    curves = _curves(robot, motion, states, parts, {"gravity": gravity, "losses": losses})
    named = m.actuated or None if joints is None else joints
    chosen = pictures.chosen_numbers(m, named)[1]
    if not chosen:
        raise InputError(f"{robot.name} has no joint that moves")
    names, kinds = labels(m, velocities=True), m.kinds_of_v
    drawn = panels(axes, len(chosen))
    for axis, k in zip(drawn, chosen, strict=True):
        unit = "N m" if kinds[k] == "angle" else "N"
        for (name, values), (colour, style) in zip(
            curves.items(), _styles(pictures.COLOURS), strict=False
        ):
            axis.plot(states.across, values[:, k], color=colour, label=name, **style)
        whole = curves["needed" if "needed" in curves else "actuators"][:, k]
        effort = float(m.effort_limit[k])
        effort = effort if effort > 0.0 else np.inf
        shown = np.array([values[:, k] for values in curves.values()])
        _with_limits(axis, states.across, whole, (-effort, effort), unit, shown)
        _decorated(axis, names[k], unit)
    for axis in bottom(drawn):
        axis.set_xlabel(states.across_label)
    if len(curves) > 1:
        handles = drawn[0].get_legend_handles_labels()
        if axes is None:
            drawn[0].figure.legend(*handles, loc="outside upper right", ncols=5, fontsize="small")
        else:
            pictures.legend_beside(drawn[0])
    return drawn


def _curves(
    robot: Robot, motion: Motion, states: States, parts: bool, how: dict[str, Any]
) -> dict[str, Floats]:
    """The curves to draw (n, nv), by name, the whole first."""
    if isinstance(motion, Simulation):
        if parts:
            raise InputError(
                "a simulation keeps no accelerations, so its forces have no parts: "
                "give arrays (times, q, v, dv)"
            )
        return {"actuators": motion.torques[: len(states.q)]}
    q, v, dv = states.q, states.v, states.dv
    if v is None or dv is None:
        if isinstance(motion, Trajectory):
            why = (
                "the other joints follow those of the trajectory through loops"
                if robot.mechanism.is_closed
                else "it has quaternions in q, whose derivatives are no velocities"
            )
            raise UnsupportedFeatureError(f"{robot.name}: {why}: give arrays (times, q, v, dv)")
        raise InputError("torques need velocities and accelerations: (times, q, v, dv)")
    g, losses = how["gravity"], how["losses"]
    curves = {"needed": robot.inverse_dynamics(q, v, dv, gravity=g, losses=losses)}
    if parts:
        still = robot.gravity_forces(q, gravity=g)
        steady = robot.inverse_dynamics(q, v, np.zeros_like(v), gravity=g)
        free = robot.inverse_dynamics(q, v, dv, gravity=g) if losses else curves["needed"]
        curves |= {"gravity": still, "inertia": free - steady, "Coriolis": steady - still}
        if losses:
            curves["losses"] = curves["needed"] - free
    return curves


def _styles(colours: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Colour and line of the whole, and of its parts."""
    thin: dict[str, Any] = {"linewidth": 1.1}
    return [
        (colours[0], {"linewidth": 1.8, "zorder": 3}),
        (colours[2], {**thin, "linestyle": "--"}),
        (colours[5], {**thin, "linestyle": "-."}),
        (colours[3], {**thin, "linestyle": ":", "linewidth": 1.5}),
        (colours[7], thin),
    ]


def _unit(units: str) -> float:
    if units not in _TURNING:
        raise InputError(f"units must be 'deg' or 'rad', not {units!r:.40}")
    return float(_TURNING[units])


def _with_limits(
    axis: Any,
    across: Floats,
    values: Floats,
    limits: tuple[float, float],
    unit: str,
    shown: Floats | None = None,
) -> None:
    """Limits of a curve: lines and shades where they are near, words where they are far.

    The axis holds all that is ``shown``, by default the curve alone.
    """
    shown = values if shown is None else shown
    low, high = float(np.min(shown)), float(np.max(shown))
    span = max(high - low, 0.04 * max(abs(low), abs(high)), 1e-9)
    bottom_, top = low - 0.1 * span, high + 0.1 * span
    sides = ((limits[0], -1.0), (limits[1], 1.0))
    near = [(at, side) for at, side in sides if side * (at - (low, high)[side > 0]) <= 1.5 * span]
    for at, _ in near:
        bottom_, top = min(bottom_, at - 0.15 * span), max(top, at + 0.15 * span)
    for at, side in near:
        axis.axhspan(at, top if side > 0 else bottom_, color=LIGHT, linewidth=0.0, zorder=0)
        axis.axhline(at, color=GREY, linestyle="--", linewidth=1.0, zorder=1)
    far = [(at, side) for at, side in sides if np.isfinite(at) and (at, side) not in near]
    if far:
        which = "limits" if len(far) == 2 else "upper limit" if far[0][1] > 0 else "lower limit"
        told = f"{which} {', '.join(f'{at:.4g}' for at, _ in far)} {unit}"
        axis.set_title(told, loc="right", fontsize="x-small", color=GREY, pad=3.0)
    beyond = (values < limits[0]) | (values > limits[1])
    if beyond.any():
        axis.plot(across, np.where(beyond, values, np.nan), color=BEYOND, linewidth=2.2, zorder=4)
    axis.set_ylim(bottom_, top)


def _decorated(axis: Any, name: str, unit: str) -> None:
    axis.set_title(name, fontsize="small", loc="left", pad=3.0)
    axis.set_ylabel(unit, fontsize="small")
    axis.tick_params(labelsize="small")
    axis.grid(visible=True, alpha=0.25)
    axis.margins(x=0.0)
